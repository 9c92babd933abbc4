from typing import TYPE_CHECKING, Any

from django import forms

from ..forms import JSONObjectField
from ..models import CatalogEntry

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[CatalogEntry]
else:
    ModelForm = forms.ModelForm


class CategoriesField(forms.CharField):
    """A list of categories, entered with commas between them."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value) or ""
        names = (name.strip() for name in text.split(","))
        return list(dict.fromkeys(name for name in names if name))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool((initial or []) != self.to_python(data))


class EntryForm(ModelForm):
    categories = CategoriesField(
        required=False,
        max_length=2000,
        help_text="Separate categories with commas.",
        widget=forms.TextInput(attrs={"size": 60}),
    )
    metadata = JSONObjectField(
        required=False, widget=forms.Textarea(attrs={"rows": 4, "cols": 80})
    )

    class Meta:
        model = CatalogEntry
        fields = [
            "display_name",
            "description",
            "categories",
            "metadata",
            "validity_from",
            "validity_to",
        ]
        widgets = {
            "display_name": forms.TextInput(attrs={"size": 60}),
            "description": forms.Textarea(attrs={"rows": 5, "cols": 80}),
        }


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 60}),
        help_text="Shown in the history of each agent.",
    )

from django import forms

from ..forms import JSONObjectField
from ..models import CatalogEntry


class CategoriesField(forms.CharField):
    """Words with commas between them, for a list of words."""

    def prepare_value(self, value):
        return ", ".join(value) if isinstance(value, list) else value

    def to_python(self, value):
        names = (name.strip() for name in super().to_python(value).split(","))
        return list(dict.fromkeys(name for name in names if name))

    def has_changed(self, initial, data):
        return (initial or []) != self.to_python(data)


class EntryForm(forms.ModelForm):
    categories = CategoriesField(
        required=False,
        max_length=2000,
        help_text="Separated by commas.",
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
        help_text="Kept in the history of each agent.",
    )

from django import forms

from capabilities.documents import BYTES_LIMIT, text_fault
from capabilities.parsers import parsers

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
            "metadata": forms.Textarea(attrs={"rows": 4, "cols": 80}),
        }

    def clean_metadata(self):
        metadata = self.cleaned_data["metadata"] or {}
        if not isinstance(metadata, dict):
            raise forms.ValidationError("Must be a JSON object.")
        return metadata


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 60}),
        help_text="Kept in the history of each agent.",
    )


class RegisterForm(forms.Form):
    """A URL to fetch, or a definition to paste: one of the two."""

    url = forms.CharField(
        label="URL",
        required=False,
        max_length=2000,
        widget=forms.TextInput(attrs={"size": 80, "inputmode": "url"}),
        help_text="Of a definition, or of a host that keeps one at a known path.",
    )
    definition = forms.CharField(
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 16, "cols": 90, "spellcheck": "false"}),
        help_text="Or paste the JSON here.",
    )
    protocol = forms.ChoiceField(
        required=False, help_text="Usually recognised from the content."
    )

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["protocol"].choices = [("", "Recognise it"), *parsers.choices()]

    def clean_definition(self):
        # Browsers send every line end as two characters; nobody typed the first.
        definition = self.cleaned_data["definition"].replace("\r\n", "\n")
        if text_fault(definition):
            raise forms.ValidationError(f"The text {text_fault(definition)}.")
        if len(definition.encode()) > BYTES_LIMIT:
            raise forms.ValidationError(f"Larger than {BYTES_LIMIT} bytes.")
        return definition

    def clean(self):
        cleaned = super().clean()
        given = [name for name in ("url", "definition") if cleaned.get(name)]
        if len(given) != 1 and not self.errors:
            raise forms.ValidationError("Give either a URL or a definition.")
        return cleaned

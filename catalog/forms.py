from django import forms

from capabilities.documents import BYTES_LIMIT, text_fault
from capabilities.parsers import ParseError, parsers

from .fetch import FetchError
from .review import Review, look_at, look_at_url


class RegisterForm(forms.Form):
    """A URL to fetch, a definition to paste, or a file: one of the three."""

    url = forms.CharField(
        label="URL",
        required=False,
        max_length=2000,
        widget=forms.TextInput(attrs={"size": 80, "inputmode": "url"}),
        help_text="Of a definition, of a host that keeps one at a known path, or of a"
        " running MCP server.",
    )
    authorization = forms.CharField(
        required=False,
        max_length=8000,
        widget=forms.PasswordInput(attrs={"size": 80, "autocomplete": "off"}),
        help_text="An Authorization header, if the MCP server wants one. Used once,"
        " never stored.",
    )
    definition = forms.CharField(
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 14, "cols": 90, "spellcheck": "false"}),
        help_text="Or paste the JSON here.",
    )
    file = forms.FileField(required=False, help_text="Or choose a file.")
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
        return self.bounded(definition.encode())

    def clean_file(self):
        file = self.cleaned_data["file"]
        return self.bounded(file.read(BYTES_LIMIT + 1)) if file else b""

    def bounded(self, raw: bytes) -> bytes:
        if len(raw) > BYTES_LIMIT:
            raise forms.ValidationError(f"Larger than {BYTES_LIMIT} bytes.")
        return raw

    def clean(self):
        cleaned = super().clean()
        given = [name for name in ("url", "definition", "file") if cleaned.get(name)]
        if len(given) != 1 and not self.errors:
            raise forms.ValidationError("Give a URL, a definition or a file: one.")
        return cleaned

    def review(self) -> Review | None:
        """What was given, looked at; None, with the reason told, if it cannot be."""
        asked = self.cleaned_data
        try:
            if asked["url"]:
                return look_at_url(
                    asked["url"], asked["protocol"], asked["authorization"]
                )
        except FetchError as error:
            self.add_error("url", str(error))
            return None
        except ParseError as error:
            return Review(error.reading)
        return look_at(asked["definition"] or asked["file"], asked["protocol"])

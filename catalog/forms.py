from django import forms
from django.forms.fields import InvalidJSONInput

from capabilities.documents import BYTES_LIMIT, read_json, text_fault
from capabilities.parsers import ParseError, parsers
from capabilities.problems import Problems, Unreadable, url_fault

from .outbound import FetchError, authorization_fault
from .registration import Review, look_at, look_at_url


class AuthorizationField(forms.CharField):
    """An Authorization header, typed like a password."""

    def __init__(self, **options):
        attributes = {"size": 80, "autocomplete": "off"}
        widget = forms.PasswordInput(attrs=attributes)
        super().__init__(required=False, max_length=8000, widget=widget, **options)

    def validate(self, value):
        super().validate(value)
        if fault := authorization_fault(value):
            raise forms.ValidationError(f"It {fault}.")


class JSONObjectField(forms.JSONField):
    """Read as strictly as the API does: what it would refuse comes in by no form."""

    def to_python(self, value):
        if self.disabled or value in self.empty_values:
            return super().to_python(value)
        problems = Problems()
        try:
            document = read_json(value.encode(errors="replace"), problems)
        except Unreadable as unreadable:
            raise forms.ValidationError(f"This {unreadable}.") from unreadable
        for first in (*problems.errors, *problems.warnings):
            raise forms.ValidationError(f"{first.path} {first.message}.")
        return document

    def clean(self, value):
        return super().clean(value) or {}

    def bound_data(self, data, initial):
        """As it was typed: some of it cannot even be shown."""
        return initial if self.disabled else InvalidJSONInput(data)


class RefreshForm(forms.Form):
    """For a running MCP server that asks who is there."""

    authorization = AuthorizationField(
        help_text="An Authorization header. Used once, never stored."
    )


class RegisterForm(forms.Form):
    """A URL to fetch, a definition to paste, or a file: one of the three."""

    url = forms.CharField(
        label="URL",
        required=False,
        max_length=2000,
        widget=forms.TextInput(attrs={"size": 80, "inputmode": "url"}),
        help_text="Of a definition, of a host that keeps one at a known path, of a"
        " running MCP server, or of an AG-UI agent.",
    )
    authorization = AuthorizationField(
        help_text="An Authorization header, for the host of the URL. Used once, never"
        " stored; what is read with it is refreshed only by hand.",
    )
    capabilities_url = forms.CharField(
        label="Capabilities URL",
        required=False,
        max_length=2000,
        widget=forms.TextInput(attrs={"size": 80, "inputmode": "url"}),
        help_text="Where an AG-UI agent tells what it supports, if not at its own"
        " address followed by /capabilities.",
    )
    definition = forms.CharField(
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 14, "cols": 90, "spellcheck": "false"}),
        help_text="JSON, or a text with YAML or TOML on top.",
    )
    file = forms.FileField(required=False, help_text="Instead of pasting it.")
    endpoint = forms.CharField(
        required=False,
        max_length=2000,
        widget=forms.TextInput(attrs={"size": 80, "inputmode": "url"}),
        help_text="Where the agent is, if what you paste does not say (AG-UI).",
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
        return self.bounded(definition.encode())

    def clean_endpoint(self):
        endpoint = self.cleaned_data["endpoint"].strip()
        if endpoint and (fault := url_fault(endpoint)):
            raise forms.ValidationError(f"The URL {fault}.")
        return endpoint

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
            raise forms.ValidationError(
                "Give one of the three: a URL, a definition or a file."
            )
        return cleaned

    def review(self) -> Review | None:
        """What was given, looked at; None, with the reason told, if it cannot be."""
        asked = self.cleaned_data
        try:
            if asked["url"]:
                given = ("url", "protocol", "authorization", "capabilities_url")
                return look_at_url(*(asked[name] for name in given))
        except FetchError as error:
            self.add_error("url", str(error))
            return None
        except ParseError as error:
            return Review(error.reading)
        raw = asked["definition"] or asked["file"]
        return look_at(raw, asked["protocol"], asked["endpoint"])

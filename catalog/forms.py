from typing import Any

from django import forms
from django.forms.fields import InvalidJSONInput

from capabilities.documents import DOCUMENT_BYTES_LIMIT, find_text_error, read_json
from capabilities.parsers import ParseError, find_endpoint_error, protocol_choices
from capabilities.problems import Problems, UnreadableDocument, find_url_error

from .discovery import FailedSearch, get_failed_search
from .outbound import FetchError, find_authorization_error
from .registration import (
    AlreadyDefined,
    Preview,
    preview_definition,
    preview_url,
)


class AuthorizationField(forms.CharField):
    """An Authorization header, entered like a password."""

    def __init__(self, **options: Any) -> None:
        attributes = {"size": 80, "autocomplete": "off"}
        widget = forms.PasswordInput(attrs=attributes)
        super().__init__(required=False, max_length=8000, widget=widget, **options)

    def validate(self, value: str) -> None:
        super().validate(value)
        if error := find_authorization_error(value):
            raise forms.ValidationError(f"The header {error}.")


class JSONObjectField(forms.JSONField):
    """A JSON object, validated as strictly as in the API."""

    def to_python(self, value: Any) -> Any:
        if self.disabled or value in self.empty_values:
            return super().to_python(value)
        problems = Problems(rejects_repeated_members=True)
        try:
            document = read_json(value.encode(errors="replace"), problems)
        except UnreadableDocument as error:
            raise forms.ValidationError(f"The value {error}.") from error
        if problems.errors:
            problem = problems.errors[0]
            raise forms.ValidationError(f"{problem.path} {problem.message}.")
        return document

    def clean(self, value: Any) -> Any:
        return super().clean(value) or {}

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Return the submitted text; parsed JSON may not be serializable again."""
        return initial if self.disabled else InvalidJSONInput(data)


class RefreshForm(forms.Form):
    """The Authorization header for a server that requires one."""

    authorization = AuthorizationField(
        help_text="Authorization header. Used once and never stored."
    )


def get_protocol_field_choices() -> list[tuple[str, str]]:
    return [("", "Auto-detect"), *protocol_choices()]


class RegisterForm(forms.Form):
    """A URL to fetch, a pasted definition, or an uploaded file."""

    # What was tried, after an import from the URL failed.
    failed_search = FailedSearch()

    url = forms.CharField(
        label="URL",
        required=False,
        max_length=2000,
        widget=forms.TextInput(attrs={"size": 80, "inputmode": "url"}),
        help_text="URL of a definition, of a host that publishes one at a well-known"
        " path, of an MCP server, or of an AG-UI agent.",
    )
    authorization = AuthorizationField(
        help_text="Authorization header for the host of the URL. Used once and never"
        " stored, so a definition fetched with it is not refreshed automatically.",
    )
    capabilities_url = forms.CharField(
        label="Capabilities URL",
        required=False,
        max_length=2000,
        widget=forms.TextInput(attrs={"size": 80, "inputmode": "url"}),
        help_text="Where an AG-UI agent publishes its capabilities, if not at its own"
        " URL followed by /capabilities.",
    )
    definition = forms.CharField(
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 14, "cols": 90, "spellcheck": "false"}),
        help_text="JSON, or text with YAML or TOML front matter.",
    )
    file = forms.FileField(
        required=False, help_text="Upload the definition instead of pasting it."
    )
    endpoint = forms.CharField(
        required=False,
        max_length=2000,
        widget=forms.TextInput(attrs={"size": 80, "inputmode": "url"}),
        help_text="URL of the agent, only if the definition does not contain it.",
    )
    protocol = forms.ChoiceField(
        required=False,
        choices=get_protocol_field_choices,
        help_text="Usually detected from the content.",
    )

    def clean_definition(self) -> bytes:
        # Browsers submit every line break as CRLF.
        definition: str = self.cleaned_data["definition"].replace("\r\n", "\n")
        if error := find_text_error(definition):
            raise forms.ValidationError(f"The text {error}.")
        return self.check_size(definition.encode())

    def clean_endpoint(self) -> str:
        endpoint: str = self.cleaned_data["endpoint"].strip()
        if endpoint and (error := find_url_error(endpoint)):
            raise forms.ValidationError(f"The URL {error}.")
        return endpoint

    def clean_file(self) -> bytes:
        file = self.cleaned_data["file"]
        return self.check_size(file.read(DOCUMENT_BYTES_LIMIT + 1)) if file else b""

    def check_size(self, raw: bytes) -> bytes:
        if len(raw) > DOCUMENT_BYTES_LIMIT:
            raise forms.ValidationError(
                f"The definition must not exceed {DOCUMENT_BYTES_LIMIT} bytes (1 MiB)."
            )
        return raw

    def clean(self) -> dict[str, Any]:
        super().clean()
        names = ("url", "definition", "file")
        sources = [name for name in names if self.cleaned_data.get(name)]
        if len(sources) != 1 and not self.errors:
            raise forms.ValidationError(
                "Provide exactly one source: a URL, a pasted definition or a file."
            )
        self.check_endpoint()
        return self.cleaned_data

    def check_endpoint(self) -> None:
        """Add an error if the definition needs no endpoint."""
        data = self.cleaned_data
        raw = data.get("definition") or data.get("file")
        if not raw or not data.get("endpoint"):
            return
        if error := find_endpoint_error(raw, data.get("protocol", "")):
            self.add_error("endpoint", f"The URL {error}.")

    def preview(self, *, allow_stub: bool = False) -> Preview | None:
        """Preview the submitted definition.

        Add an error to the form and return None if it cannot be fetched. With
        `allow_stub`, preview the agent without it if that needs authorization.
        """
        data = self.cleaned_data
        if not data["url"]:
            raw = data["definition"] or data["file"]
            return preview_definition(raw, data["protocol"], data["endpoint"])
        try:
            return preview_url(
                data["url"],
                data["protocol"],
                data["authorization"],
                data["capabilities_url"],
                allow_stub,
            )
        except (FetchError, AlreadyDefined) as error:
            self.failed_search = get_failed_search(error)
            self.add_error("url", f"{error}.")
            return None
        except ParseError as error:
            self.failed_search = get_failed_search(error)
            return Preview(error.result)

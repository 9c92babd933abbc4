"""Forms of the registry's pages."""

from typing import TYPE_CHECKING, Any

from django import forms

from .. import decisions
from ..decisions import RoutingRequest
from ..models import CapabilityRegistration
from ..strategies import STRATEGIES

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[CapabilityRegistration]
else:
    ModelForm = forms.ModelForm


class RoutingPreviewForm(forms.Form):
    """The parameters of a routing decision to preview."""

    strategy = forms.ChoiceField(
        choices=[(name, name.replace("_", " ")) for name in STRATEGIES], required=False
    )
    version = forms.CharField(required=False, max_length=100)
    metadata = forms.CharField(
        label="Metadata filter",
        required=False,
        max_length=2000,
        help_text='A JSON object, such as {"supported_formats": "csv"}.',
    )

    def clean_metadata(self) -> dict[str, Any]:
        try:
            return decisions.parse_metadata_filter(self.cleaned_data["metadata"])
        except decisions.MetadataFilterError as error:
            raise forms.ValidationError(str(error)) from error

    def build_routing_request(self, capability: str) -> RoutingRequest:
        """Return a request with the valid values, which never advances the rotation."""
        self.is_valid()
        data = self.cleaned_data
        return RoutingRequest(
            capability=capability,
            version=data.get("version", ""),
            strategy=data.get("strategy") or decisions.DEFAULT_STRATEGY,
            metadata=data.get("metadata") or {},
            include_unhealthy=True,
            peek=True,
        )


class RegistrationForm(ModelForm):
    """Priority and status of a registration.

    The initial values are submitted as well, so that only the fields that this user
    changed are saved. Another user may have changed the others since.
    """

    class Meta:
        model = CapabilityRegistration
        fields = ["priority", "desired_state"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.show_hidden_initial = True

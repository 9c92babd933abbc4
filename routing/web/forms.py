"""What people fill in on the registry's pages."""

from django import forms

from .. import decisions
from ..decisions import RoutingRequest
from ..models import CapabilityRegistration
from ..strategies import STRATEGIES


class TrialForm(forms.Form):
    """What a caller could ask; a page never moves the rotation on."""

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

    def clean_metadata(self):
        try:
            return decisions.parse_metadata_filter(self.cleaned_data["metadata"])
        except decisions.MetadataFilterError as error:
            raise forms.ValidationError(str(error)) from error

    def question(self, capability: str) -> RoutingRequest:
        """Where a value makes no sense, as if it were not there: pages forgive."""
        self.is_valid()
        asked = self.cleaned_data
        return RoutingRequest(
            capability=capability,
            version=asked.get("version", ""),
            strategy=asked.get("strategy") or decisions.DEFAULT_STRATEGY,
            metadata=asked.get("metadata") or {},
            include_unhealthy=True,
            peek=True,
        )


class OfferForm(forms.ModelForm):
    """Only what was changed in it counts: others may have changed the rest."""

    class Meta:
        model = CapabilityRegistration
        fields = ["priority", "intent"]
        labels = {"intent": "Status"}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.show_hidden_initial = True

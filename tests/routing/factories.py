import factory
from django.utils import timezone

from catalog.models import Status
from routing.models import CapabilityRegistration
from tests.factories import CatalogEntryFactory


class RegistrationFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = CapabilityRegistration

    entry = factory.SubFactory(CatalogEntryFactory)
    capability = "data-analysis"


def create_registration(
    agent_name: str,
    status: str = Status.ACTIVE,
    load: float | None = None,
    **members,
) -> CapabilityRegistration:
    """Create a registration of an agent with this name, with a load just reported."""
    entry = CatalogEntryFactory(display_name=agent_name, status=status)
    if load is not None:
        members |= {"load_score": load, "load_score_at": timezone.now()}
    return RegistrationFactory(entry=entry, **members)

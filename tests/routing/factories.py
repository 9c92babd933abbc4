import factory

from routing.models import CapabilityRegistration
from tests.factories import CatalogEntryFactory


class RegistrationFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = CapabilityRegistration

    entry = factory.SubFactory(CatalogEntryFactory)
    capability = "data-analysis"

"""What one page of the list of capabilities holds."""

from typing import NamedTuple

from ..models import RegistrationMetricsMixin


class ListedProvider(NamedTuple):
    """A provider, and whether to show its metadata and all its metrics."""

    provider: RegistrationMetricsMixin
    with_metadata: bool


class CapabilityProviders(NamedTuple):
    """A capability and the providers of it that match."""

    capability: str
    providers: list[ListedProvider]


class Page(NamedTuple):
    """Some of the capabilities that match, and how many match in all."""

    capabilities: list[CapabilityProviders]
    total: int
    limit: int
    offset: int

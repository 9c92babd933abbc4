"""The content of a page of the capability list."""

from typing import NamedTuple

from ..models import RegistrationMetricsMixin


class ListedProvider(NamedTuple):
    """A provider, and whether to include its metadata and all metrics."""

    provider: RegistrationMetricsMixin
    with_metadata: bool


class CapabilityProviders(NamedTuple):
    """A capability with its matching providers."""

    capability: str
    providers: list[ListedProvider]


class CapabilityPage(NamedTuple):
    """A page of capabilities; `total` counts the matching ones on all pages."""

    capabilities: list[CapabilityProviders]
    total: int
    limit: int
    offset: int

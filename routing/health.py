"""How capabilities are, computed from their providers whenever somebody asks."""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from catalog.models import Status

from .models import CapabilityRegistration, DesiredState, RegistrationMetricsMixin


@dataclass(frozen=True, slots=True)
class CapabilityHealth:
    """How many providers of a capability are healthy, and, where asked, each one."""

    capability: str
    healthy_providers: int
    total_providers: int
    providers: Sequence[RegistrationMetricsMixin] = ()

    @property
    def health(self) -> str:
        return overall(self.healthy_providers, self.total_providers)


@dataclass(frozen=True, slots=True)
class RegistryHealth:
    """How the capabilities are together, and those of them that are asked for."""

    overall_health: str
    healthy_capabilities: int
    degraded_capabilities: int
    unhealthy_capabilities: int
    capabilities: list[CapabilityHealth]


def overall(healthy: int, total: int) -> str:
    """Of a capability: two thirds of its providers are enough, and none is too few."""
    if not healthy:
        return "unhealthy"
    return "healthy" if 3 * healthy >= 2 * total else "degraded"


def overall_of(healths: Iterable[str]) -> str:
    """Of everything: healthy or unhealthy only if all are."""
    kinds = set(healths)
    if kinds <= {"healthy"}:
        return "healthy"
    return "unhealthy" if kinds == {"unhealthy"} else "degraded"


def summarize_capability(
    capability: str, providers: Sequence[RegistrationMetricsMixin]
) -> CapabilityHealth:
    """Return how a capability is, by its providers."""
    healthy = sum(one.is_healthy for one in providers)
    return CapabilityHealth(capability, healthy, len(providers), providers)


def summarize_registry(left_out: Container[str] = ()) -> RegistryHealth:
    """All capabilities together, and each one that is not left out."""
    each = [CapabilityHealth(*row) for row in counted()]
    counts = Counter(one.health for one in each)
    return RegistryHealth(
        overall_health=overall_of(counts),
        healthy_capabilities=counts["healthy"],
        degraded_capabilities=counts["degraded"],
        unhealthy_capabilities=counts["unhealthy"],
        capabilities=[one for one in each if one.health not in left_out],
    )


def counted():
    """For each capability how many of its providers are well, and how many it has."""
    offers = CapabilityRegistration.objects.present().with_state()
    well = Q(intent=DesiredState.ACTIVE, state=Status.ACTIVE)
    counts = {"healthy": Count("pk", filter=well), "total": Count("pk")}
    return offers.order_by("capability").values_list("capability").annotate(**counts)

"""The health of capabilities, computed from their providers."""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from catalog.models import Status

from .models import CapabilityRegistration, DesiredState, RegistrationMetricsMixin


@dataclass(frozen=True, slots=True)
class CapabilityHealth:
    """The number of healthy providers of a capability, optionally with providers."""

    capability: str
    healthy_providers: int
    total_providers: int
    providers: Sequence[RegistrationMetricsMixin] = ()

    @property
    def health(self) -> str:
        return combine_provider_health(self.healthy_providers, self.total_providers)


@dataclass(frozen=True, slots=True)
class RegistryHealth:
    """Counts over all capabilities; `capabilities` may leave some of them out."""

    overall_health: str
    healthy_capabilities: int
    degraded_capabilities: int
    unhealthy_capabilities: int
    capabilities: list[CapabilityHealth]


def combine_provider_health(healthy: int, total: int) -> str:
    """Return the health of a capability: healthy if two thirds of providers are."""
    if not healthy:
        return "unhealthy"
    return "healthy" if 3 * healthy >= 2 * total else "degraded"


def combine_capability_health(health_values: Iterable[str]) -> str:
    """Return healthy or unhealthy if all capabilities are that; otherwise degraded."""
    distinct = set(health_values)
    if distinct <= {"healthy"}:
        return "healthy"
    return "unhealthy" if distinct == {"unhealthy"} else "degraded"


def summarize_capability(
    capability: str, providers: Sequence[RegistrationMetricsMixin]
) -> CapabilityHealth:
    healthy = sum(provider.is_healthy for provider in providers)
    return CapabilityHealth(capability, healthy, len(providers), providers)


def summarize_registry(excluded_health_values: Container[str] = ()) -> RegistryHealth:
    """Return counts over all capabilities, and those without an excluded health."""
    summaries = count_providers()
    counts = Counter(summary.health for summary in summaries)
    return RegistryHealth(
        overall_health=combine_capability_health(counts),
        healthy_capabilities=counts["healthy"],
        degraded_capabilities=counts["degraded"],
        unhealthy_capabilities=counts["unhealthy"],
        capabilities=[
            summary
            for summary in summaries
            if summary.health not in excluded_health_values
        ],
    )


def count_providers() -> list[CapabilityHealth]:
    """Return provider counts (healthy and total) by capability, ordered by name."""
    registrations = CapabilityRegistration.objects.present().with_state()
    is_healthy = Q(intent=DesiredState.ACTIVE, state=Status.ACTIVE)
    rows = registrations.order_by("capability").values("capability")
    rows = rows.annotate(healthy=Count("pk", filter=is_healthy), total=Count("pk"))
    return [
        CapabilityHealth(row["capability"], row["healthy"], row["total"])
        for row in rows
    ]

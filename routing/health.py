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
        return get_capability_health(self.healthy_providers, self.total_providers)


@dataclass(frozen=True, slots=True)
class RegistryHealth:
    """Counts over all capabilities; `capabilities` may leave some of them out."""

    overall_health: str
    healthy_capabilities: int
    degraded_capabilities: int
    unhealthy_capabilities: int
    capabilities: list[CapabilityHealth]


def get_capability_health(healthy_providers: int, total_providers: int) -> str:
    """Return the health of a capability, from its numbers of providers.

    It is healthy if at least two thirds of them are, and unhealthy if none is.
    """
    if not healthy_providers:
        return "unhealthy"
    is_healthy = 3 * healthy_providers >= 2 * total_providers
    return "healthy" if is_healthy else "degraded"


def get_overall_health(health_values: Iterable[str]) -> str:
    """Return the health that all capabilities have in common, otherwise degraded.

    Without capabilities, the registry is healthy.
    """
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
    """Count all capabilities by health, and list those without an excluded health."""
    summaries = list_capability_health()
    counts = Counter(summary.health for summary in summaries)
    return RegistryHealth(
        overall_health=get_overall_health(counts),
        healthy_capabilities=counts["healthy"],
        degraded_capabilities=counts["degraded"],
        unhealthy_capabilities=counts["unhealthy"],
        capabilities=[
            summary
            for summary in summaries
            if summary.health not in excluded_health_values
        ],
    )


def list_capability_health() -> list[CapabilityHealth]:
    """Return the health of every capability, ordered by name, without providers."""
    registrations = CapabilityRegistration.objects.not_drained().with_state()
    is_healthy = Q(desired_state=DesiredState.ACTIVE, state=Status.ACTIVE)
    rows = registrations.order_by("capability").values("capability")
    rows = rows.annotate(healthy=Count("pk", filter=is_healthy), total=Count("pk"))
    return [
        CapabilityHealth(row["capability"], row["healthy"], row["total"])
        for row in rows
    ]

"""How capabilities are, computed from their providers whenever somebody asks."""

from collections import Counter
from collections.abc import Container, Iterable
from typing import Any

from django.db.models import Count, Q

from catalog.models import Status

from .models import CapabilityRegistration, Intent


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


def everything(left_out: Container[str] = ()) -> dict[str, Any]:
    """All capabilities together, and each one that is not left out."""
    each = [told(row) for row in counted()]
    counts = Counter(one["health"] for one in each)
    return {
        "overall_health": overall_of(counts),
        "healthy_capabilities": counts["healthy"],
        "degraded_capabilities": counts["degraded"],
        "unhealthy_capabilities": counts["unhealthy"],
        "capabilities": [one for one in each if one["health"] not in left_out],
    }


def counted():
    """For each capability how many providers it has, and how many are well."""
    offers = CapabilityRegistration.objects.present().with_state()
    well = Q(intent=Intent.ACTIVE, state=Status.ACTIVE)
    return (
        offers.order_by("capability")
        .values("capability")
        .annotate(total=Count("pk"), healthy=Count("pk", filter=well))
    )


def told(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "capability": row["capability"],
        "health": overall(row["healthy"], row["total"]),
        "healthy_providers": row["healthy"],
        "total_providers": row["total"],
    }

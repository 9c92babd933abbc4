"""Template filters for registrations and their metrics."""

from django import template

from catalog.health import format_percent

from ..models import HEALTH_BY_STATUS

register = template.Library()
# Several states mean unhealthy; its badge is the one of an offline agent.
STATUS_BY_HEALTH = {health: status for status, health in HEALTH_BY_STATUS.items()} | {
    "unhealthy": "offline"
}


@register.filter
def as_status(health: str) -> str:
    """Return the catalog status whose badge shows this health."""
    return STATUS_BY_HEALTH[health]


@register.filter
def spaced(name: str) -> str:
    """Replace underscores with spaces."""
    return name.replace("_", " ")


@register.filter
def as_time(milliseconds: float | None) -> str:
    return "–" if milliseconds is None else f"{milliseconds:.0f} ms"


@register.filter
def as_load(load: float | None) -> str:
    return "–" if load is None else f"{load:.2g}"


@register.filter
def as_percent(share: float | None) -> str:
    return "–" if share is None else format_percent(share)

"""What templates say about offers to take traffic."""

from django import template

from catalog.health import format_percent

from ..models import HEALTH_BY_STATUS

register = template.Library()
LOOKS = {health: status for status, health in reversed(HEALTH_BY_STATUS.items())} | {
    "unhealthy": "offline"
}


@register.filter
def as_status(health: str) -> str:
    """The catalog's status that looks like this health."""
    return LOOKS[health]


@register.filter
def spaced(name: str) -> str:
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

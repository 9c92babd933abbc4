"""Template filters for registrations and their metrics."""

from django import template

from catalog.health import format_percent

from ..models import HEALTH_BY_STATUS

register = template.Library()
# Unhealthy registrations are shown with the badge of an offline agent, although agents
# of other statuses are unhealthy, too.
STATUS_BY_HEALTH = {health: status for status, health in HEALTH_BY_STATUS.items()} | {
    "unhealthy": "offline"
}


@register.filter
def get_badge_status(health: str) -> str:
    """Return the catalog status whose badge shows this health."""
    return STATUS_BY_HEALTH[health]


@register.filter
def replace_underscores(name: str) -> str:
    """Replace underscores with spaces."""
    return name.replace("_", " ")


@register.filter
def format_milliseconds(milliseconds: float | None) -> str:
    return "–" if milliseconds is None else f"{milliseconds:.0f} ms"


@register.filter
def format_load(load: float | None) -> str:
    return "–" if load is None else f"{load:.2g}"


@register.filter
def format_share(share: float | None) -> str:
    return "–" if share is None else format_percent(share)

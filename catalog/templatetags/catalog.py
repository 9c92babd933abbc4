"""Template tags and filters for agents and capabilities."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote

from django import template
from django.apps import apps
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import mark_safe
from django_htmx.jinja import htmx_script

from capabilities.kinds import discoverable_kinds, kinds
from capabilities.parsers import parsers
from capabilities.problems import find_url_error
from capabilities.records import CapabilityRecord

from .. import health
from ..models import is_breaking_removal
from ..web import ICONS

T = TypeVar("T")
U = TypeVar("U")

# Characters of a value that is shown on the same line as the value that replaced it.
SHORT_VALUE_LIMIT = 60

register = template.Library()


@register.simple_tag
def icon(name: str) -> str:
    """Return an inline SVG icon; screen readers read the text next to it instead."""
    return format_html(
        '<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">{}</svg>',
        mark_safe(ICONS.get(name, ICONS["dot"])),  # noqa: S308 - a constant
    )


@register.simple_tag
def htmx_script_if_installed() -> str:
    """Return the htmx script tag, or nothing in a project without django_htmx."""
    return htmx_script() if apps.is_installed("django_htmx") else ""


@register.filter
def kind_label(slug: str) -> str:
    kind = kinds.get(slug)
    return kind.label if kind else slug


@register.filter
def is_breaking(removed: dict[str, Any]) -> bool:
    """Return whether clients may depend on a removed capability."""
    return is_breaking_removal(removed)


@register.filter
def field_label(name: str) -> str:
    """Return the name of a field for people: `Input schema`."""
    return name.replace("_", " ").capitalize()


@register.filter
def split_technical(
    capabilities: Iterable[CapabilityRecord],
) -> list[tuple[str, list[CapabilityRecord]]]:
    """Return discoverable and technical capabilities, each with a label for people.

    The technical ones are left out if there are none.
    """
    discoverable: list[CapabilityRecord] = []
    technical: list[CapabilityRecord] = []
    slugs = discoverable_kinds()
    for capability in capabilities:
        rows = discoverable if capability.kind in slugs else technical
        rows.append(capability)
    groups = [("Capabilities", discoverable), ("Technical details", technical)]
    return groups if technical else groups[:1]


@register.filter
def has_short_values(change: dict[str, Any]) -> bool:
    """Return whether both values of a change fit on one line."""
    values = change["from"], change["to"]
    return None not in values and all(
        len(format_value(value)) <= SHORT_VALUE_LIMIT for value in values
    )


@register.filter
def kind_icon(slug: str) -> str:
    kind = kinds.get(slug)
    return kind.icon if kind else "dot"


@register.filter
def protocol_label(slug: str) -> str:
    parser = parsers.get(slug)
    return parser.label if parser else slug


@register.filter
def is_web_url(url: Any) -> bool:
    """Return whether a value from a definition is an http or https URL."""
    return isinstance(url, str) and bool(url) and not find_url_error(url)


@register.filter
def format_value(value: Any) -> str:
    """Format a JSON value for people: `yes`, `a, b`, `3.5`."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(format_value, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@register.filter
def format_members(members: dict[str, Any]) -> str:
    """Format a JSON object on one line: `formats: csv, json; speed: fast`."""
    return "; ".join(f"{key}: {format_value(value)}" for key, value in members.items())


@register.filter
def zip_with(first: Iterable[T], second: Iterable[U]) -> list[tuple[T, U]]:
    """Pair the items of two iterables of equal length."""
    return list(zip(first, second, strict=True))


@register.filter
def time_ago(moment: datetime) -> str:
    return health.format_time_ago(moment)


@register.filter
def format_percent(share: float | None) -> str:
    return health.format_percent(share)


@register.filter
def first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0]


@register.simple_tag
def capability_url(kind: str, name: str) -> str:
    """Return the URL of a capability's page.

    The name is quoted here, because `reverse()` leaves characters such as `/` as is.
    """
    key = quote(f"{kind}::{name}", safe="")
    return f"{reverse('catalog:capability_list')}/{key}"

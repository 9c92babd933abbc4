"""What templates say about agents and capabilities."""

import json
from typing import Any
from urllib.parse import quote

from django import template
from django.apps import apps
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import mark_safe
from django.utils.timesince import timesince
from django_htmx.jinja import htmx_script

from capabilities.kinds import is_relied_on, kinds
from capabilities.parsers import parsers
from capabilities.problems import url_fault

from ..health import percent
from ..web import ICONS

register = template.Library()


@register.simple_tag
def icon(name: str) -> str:
    """An icon of our own set, for the eye only: words stand beside it."""
    return format_html(
        '<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">{}</svg>',
        mark_safe(ICONS.get(name, ICONS["dot"])),  # noqa: S308 - our own drawing
    )


@register.simple_tag
def htmx_script_if_installed() -> str:
    """The script of htmx; the pages work without it as well."""
    return htmx_script() if apps.is_installed("django_htmx") else ""


@register.filter
def kind_label(slug: str) -> str:
    kind = kinds.get(slug)
    return kind.label if kind else slug


@register.filter
def is_breaking(removed: dict[str, str]) -> bool:
    """Whether clients relied on what a definition no longer has."""
    return is_relied_on(removed["kind"])


@register.filter
def kind_icon(slug: str) -> str:
    kind = kinds.get(slug)
    return kind.icon if kind else "dot"


@register.filter
def protocol_label(slug: str) -> str:
    parser = parsers.get(slug)
    return parser.label if parser else slug


@register.filter
def is_link(url: Any) -> bool:
    """Whether a URL out of a definition may be opened from here."""
    return isinstance(url, str) and bool(url) and not url_fault(url)


@register.filter
def in_words(value: Any) -> str:
    """A value out of a definition as people write it, not as Python does."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(in_words, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@register.filter
def members_in_words(members: dict[str, Any]) -> str:
    """An object in one line: `formats: csv, json; speed: fast`."""
    return "; ".join(f"{key}: {in_words(value)}" for key, value in members.items())


@register.filter
def beside(first, second) -> list[tuple]:
    """Pairs, one of each."""
    return list(zip(first, second, strict=True))


@register.filter
def ago(moment) -> str:
    """How long it is, in one word or two."""
    told = timesince(moment, depth=1)
    return "just now" if told.startswith("0") else f"{told} ago"


@register.filter
def as_share(share: float | None) -> str:
    return percent(share)


@register.filter
def first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0]


@register.simple_tag
def capability_url(kind: str, name: str) -> str:
    """The page of a capability; every character of its name keeps its place."""
    place = reverse("catalog:capability_list")
    return f"{place}/{quote(f'{kind}::{name}', safe='')}"

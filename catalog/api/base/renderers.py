"""A fast JSON renderer, and content negotiation with a fast path for JSON."""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request

# What nearly every client sends; other values are parsed by the base class.
COMMON_ACCEPT_HEADERS = ("*/*", "application/json")


class ORJSONRenderer(JSONRenderer):
    """Renders JSON with orjson, or with the standard library where orjson cannot."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> Any:
        if data is None:
            return b""
        try:
            return orjson.dumps(data, default=str, option=orjson.OPT_NON_STR_KEYS)
        except TypeError:  # a number in a definition may have more than 64 bits
            return super().render(data, accepted_media_type, renderer_context)


class JSONContentNegotiation(DefaultContentNegotiation):
    """Selects the JSON renderer at once for the most common Accept headers."""

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        renderers = list(renderers)
        first = renderers[0]
        is_common = request.META.get("HTTP_ACCEPT", "*/*") in COMMON_ACCEPT_HEADERS
        if is_common and isinstance(first, JSONRenderer):
            return first, first.media_type
        selected: tuple[BaseRenderer, str] = super().select_renderer(
            request, renderers, format_suffix
        )
        return selected

"""JSON out, quickly."""

import orjson
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import JSONRenderer

# What nearly every client says; anything else is read word by word.
ANYTHING = ("*/*", "application/json")


class ORJSONRenderer(JSONRenderer):
    """JSON written several times faster; by the standard library where it must be."""

    def render(self, data, accepted_media_type=None, renderer_context=None):
        if data is None:
            return b""
        try:
            return orjson.dumps(data, default=str, option=orjson.OPT_NON_STR_KEYS)
        except TypeError:  # a definition's number may be larger than 64 bits
            return super().render(data, accepted_media_type, renderer_context)


class Negotiation(DefaultContentNegotiation):
    """Long thought only about what is not plainly JSON."""

    def select_renderer(self, request, renderers, format_suffix=None):
        first = renderers[0]
        plain = request.META.get("HTTP_ACCEPT", "*/*") in ANYTHING
        if plain and isinstance(first, JSONRenderer):
            return first, first.media_type
        return super().select_renderer(request, renderers, format_suffix)

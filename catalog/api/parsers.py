"""Bodies in: strict JSON, or a definition's very bytes."""

from rest_framework.parsers import BaseParser

from capabilities.documents import BYTES_LIMIT, Unreadable, read
from capabilities.problems import Problems

from .errors import BodyTooLarge, InvalidBody


def bounded(stream) -> bytes:
    """The body, if it is not too long; never more of it than the limit is read."""
    body = stream.read(BYTES_LIMIT + 1)
    if len(body) > BYTES_LIMIT:
        raise BodyTooLarge
    return body


class StrictJSONParser(BaseParser):
    """A JSON object free of what no database takes."""

    media_type = "application/json"

    def parse(self, stream, media_type=None, parser_context=None):
        problems = Problems()
        try:
            document = read(bounded(stream), problems)
        except Unreadable as unreadable:
            raise InvalidBody(f"The body {unreadable}") from unreadable
        if problems.errors:
            first = problems.errors[0]
            raise InvalidBody(f"{first.path} {first.message}")
        return document


class DefinitionParser(BaseParser):
    """A definition as it came: what it says is read from these bytes."""

    media_type = "application/json"

    def parse(self, stream, media_type=None, parser_context=None):
        return bounded(stream)


class PlainTextDefinitionParser(DefinitionParser):
    media_type = "text/plain"


class AgentCardParser(DefinitionParser):
    media_type = "application/a2a+json"


class ServerCardParser(DefinitionParser):
    media_type = "application/mcp-server-card+json"


DEFINITION_PARSERS = [
    DefinitionParser,
    AgentCardParser,
    ServerCardParser,
    PlainTextDefinitionParser,
]

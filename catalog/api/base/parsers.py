"""Bodies in: strict JSON, or a definition's very bytes."""

from rest_framework.parsers import BaseParser

from capabilities.documents import BYTES_LIMIT, read_json
from capabilities.problems import Problems, Unreadable

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
            document = read_json(bounded(stream), problems)
        except Unreadable as unreadable:
            raise InvalidBody(f"The body {unreadable}") from unreadable
        # A member given twice: nobody knows which of the two was meant.
        for first in (*problems.errors, *problems.warnings):
            message = first.message.partition(";")[0]
            raise InvalidBody(f"{first.path} {message}")
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


class YAMLDefinitionParser(DefinitionParser):
    media_type = "application/yaml"


class TextYAMLDefinitionParser(DefinitionParser):
    media_type = "text/yaml"


class TOMLDefinitionParser(DefinitionParser):
    media_type = "application/toml"


class MarkdownDefinitionParser(DefinitionParser):
    media_type = "text/markdown"


DEFINITION_PARSERS = [
    DefinitionParser,
    AgentCardParser,
    ServerCardParser,
    PlainTextDefinitionParser,
    YAMLDefinitionParser,
    TextYAMLDefinitionParser,
    TOMLDefinitionParser,
    MarkdownDefinitionParser,
]

"""Request parsers: strict JSON, and definitions as raw bytes."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from capabilities.documents import DOCUMENT_BYTES_LIMIT, read_json
from capabilities.problems import Problems, UnreadableDocument

from .errors import BodyTooLarge, InvalidBody


def read_body(stream: IO[bytes]) -> bytes:
    """Return the request body; raise BodyTooLarge without reading all of a long one."""
    body = stream.read(DOCUMENT_BYTES_LIMIT + 1)
    if len(body) > DOCUMENT_BYTES_LIMIT:
        raise BodyTooLarge
    return body


class StrictJSONParser(BaseParser):
    """Parses a JSON object; rejects repeated members and text that cannot be stored."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        problems = Problems(rejects_repeated_members=True)
        try:
            document = read_json(read_body(stream), problems)
        except UnreadableDocument as error:
            raise InvalidBody(f"The body {error}") from error
        if problems.errors:
            problem = problems.errors[0]
            raise InvalidBody(f"{problem.path} {problem.message}")
        return document


class DefinitionParser(BaseParser):
    """Returns the bytes unchanged, because a parser of `capabilities` reads them."""

    media_type = "application/json"

    def parse(  # type: ignore[override]  # the stubs know no parser that returns bytes
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return read_body(stream)


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

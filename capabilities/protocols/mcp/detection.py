"""By what an MCP definition is told from other documents."""

import re
from typing import Any

from ...problems import Document
from .transports import STREAMABLE, normalize_transport_type

# Members of an A2A card.
FOREIGN = {"skills", "supportedInterfaces"}
# Members that say where a server is; lists and flags count only beside one.
PLACES = {"endpoint", "packages", "remotes", "serverUrl", "transport", "url"}
PROTOCOL_VERSION = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
REGISTRY_NAME = re.compile(r"[a-zA-Z0-9-]+\.[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")
TRANSPORT_TYPES = {"http", "sse", "stdio", STREAMABLE}


def is_server(document: Document) -> bool:
    """Whether any sign of MCP is there, and none of A2A."""
    if FOREIGN & document.keys():
        return False
    return (
        isinstance(document.get("serverInfo"), dict)
        or has_server_schema(document)
        or says(document, "protocolVersion", PROTOCOL_VERSION)
        or is_registry_entry(document)
        or lists_primitives(document)
        or (bool(PLACES & document.keys()) and speaks_mcp(document))
    )


def says(document: Document, key: str, pattern: re.Pattern[str]) -> bool:
    value = document.get(key)
    return isinstance(value, str) and bool(pattern.fullmatch(value))


def has_server_schema(document: Document) -> bool:
    schema = document.get("$schema")
    return isinstance(schema, str) and all(
        word in schema for word in ("modelcontextprotocol.io/", "server")
    )


def is_registry_entry(document: Document) -> bool:
    """A server.json of any revision, by its members rather than its schema."""
    described = {"description", "version"} <= document.keys()
    return (
        (described and says(document, "name", REGISTRY_NAME))
        or ("name" in document and isinstance(document.get("version_detail"), dict))
        or holds(document, "remotes", {"type", "url"})
        or holds(document, "remotes", {"transport_type", "url"})
        or holds(document, "packages", {"registryType"})
        or holds(document, "packages", {"registry_type"})
        or holds(document, "packages", {"registry_name"})
    )


def lists_primitives(document: Document) -> bool:
    """Tools with a schema or resources with a URI are MCP's, wherever they stand."""
    return (
        holds(document, "tools", {"name", "inputSchema"})
        or holds(document, "resources", {"name", "uri"})
        or holds(document, "resourceTemplates", {"uriTemplate"})
    )


def speaks_mcp(document: Document) -> bool:
    """What a document with an address must say besides."""
    return (
        holds(document, "tools", {"name"})
        or holds(document, "prompts", {"name"})
        or holds(document, "resources", {"uri"})
        or has_mcp_flags(document.get("capabilities"))
        or has_mcp_transport(document)
    )


def holds(document: Document, key: str, members: set[str]) -> bool:
    """Whether a list has an object with all these members."""
    items = document.get(key)
    return isinstance(items, list) and any(
        isinstance(item, dict) and members <= item.keys() for item in items
    )


def has_mcp_flags(flags: Any) -> bool:
    return isinstance(flags, dict) and any(
        isinstance(flags.get(key), (bool, dict))
        for key in ("tools", "resources", "prompts")
    )


def has_mcp_transport(document: Document) -> bool:
    """A transport of MCP's, with an address beside it or in it."""
    stated = document.get("transport")
    inside = stated if isinstance(stated, dict) else {"type": stated}
    kind = inside.get("type")
    addresses = (document.keys() & (PLACES - {"transport"})) | (
        inside.keys() & {"endpoint", "url"}
    )
    return (
        bool(addresses)
        and isinstance(kind, str)
        and normalize_transport_type(kind) in TRANSPORT_TYPES
    )

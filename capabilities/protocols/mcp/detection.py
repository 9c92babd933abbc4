"""Detection of MCP definitions among the documents of all protocols."""

import re
from typing import Any

from ...problems import Document
from .transports import STREAMABLE_HTTP, normalize_transport_type

# Members of an A2A card.
A2A_MEMBERS = {"skills", "supportedInterfaces"}
# Members with the location of a server. In documents without such a member, members
# like `prompts` do not show that the document is one of MCP.
LOCATION_MEMBERS = {
    "endpoint",
    "packages",
    "remotes",
    "serverUrl",
    "transport",
    "url",
}
REVISION_PATTERN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
REGISTRY_NAME_PATTERN = re.compile(r"[a-zA-Z0-9-]+\.[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")
TRANSPORT_TYPES = {"http", "sse", "stdio", STREAMABLE_HTTP}


def is_server(document: Document) -> bool:
    """Return whether the document describes an MCP server and is not an A2A card."""
    if A2A_MEMBERS & document.keys():
        return False
    return (
        isinstance(document.get("serverInfo"), dict)
        or has_server_schema(document)
        or has_string_matching(document, "protocolVersion", REVISION_PATTERN)
        or is_registry_entry(document)
        or has_mcp_lists(document)
        or (bool(LOCATION_MEMBERS & document.keys()) and has_mcp_members(document))
    )


def has_string_matching(document: Document, key: str, pattern: re.Pattern[str]) -> bool:
    value = document.get(key)
    return isinstance(value, str) and bool(pattern.fullmatch(value))


def has_server_schema(document: Document) -> bool:
    schema = document.get("$schema")
    return isinstance(schema, str) and all(
        part in schema for part in ("modelcontextprotocol.io/", "server")
    )


def is_registry_entry(document: Document) -> bool:
    """Return whether this is a server.json of any revision, judging by its members."""
    has_required_members = {"description", "version"} <= document.keys()
    return (
        (
            has_required_members
            and has_string_matching(document, "name", REGISTRY_NAME_PATTERN)
        )
        or ("name" in document and isinstance(document.get("version_detail"), dict))
        or has_item_with(document, "remotes", {"type", "url"})
        or has_item_with(document, "remotes", {"transport_type", "url"})
        or has_item_with(document, "packages", {"registryType"})
        or has_item_with(document, "packages", {"registry_type"})
        or has_item_with(document, "packages", {"registry_name"})
    )


def has_mcp_lists(document: Document) -> bool:
    """Return whether a list has items that only MCP defines."""
    return (
        has_item_with(document, "tools", {"name", "inputSchema"})
        or has_item_with(document, "resources", {"name", "uri"})
        or has_item_with(document, "resourceTemplates", {"uriTemplate"})
    )


def has_mcp_members(document: Document) -> bool:
    """Return whether the document has a member as in MCP; this alone proves nothing."""
    return (
        has_item_with(document, "tools", {"name"})
        or has_item_with(document, "prompts", {"name"})
        or has_item_with(document, "resources", {"uri"})
        or has_mcp_flags(document.get("capabilities"))
        or has_mcp_transport(document)
    )


def has_item_with(document: Document, key: str, members: set[str]) -> bool:
    """Return whether a list has an object with all these members."""
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
    """Return whether there is an MCP transport, and a location in it or outside."""
    value = document.get("transport")
    transport = value if isinstance(value, dict) else {"type": value}
    transport_type = transport.get("type")
    has_location = document.keys() & (
        LOCATION_MEMBERS - {"transport"}
    ) or transport.keys() & {"endpoint", "url"}
    return (
        bool(has_location)
        and isinstance(transport_type, str)
        and normalize_transport_type(transport_type) in TRANSPORT_TYPES
    )

"""Detection of MCP definitions among the documents of all protocols."""

import re
from typing import Any

from ...problems import Document
from .nested_servers import LOCATION_MEMBERS, find_nested_servers
from .transports import STREAMABLE_HTTP, URL_MEMBERS, normalize_transport_type

# Members of A2A cards, and of Smithery's records, which have neither name nor URL.
OTHER_FORMAT_MEMBERS = {"qualifiedName", "skills", "supportedInterfaces"}
# Members of agents that use tools and are not servers.
AGENT_MEMBERS = {"agents", "model", "prompt", "skills", "systemPrompt", "system_prompt"}
# The number of nested servers that are checked.
NESTED_LIMIT = 10
MCP_URL_PATTERN = re.compile(r"https?://\S+/(?:mcp|sse)/?")
REVISION_PATTERN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
REGISTRY_NAME_PATTERN = re.compile(r"[a-zA-Z0-9-]+\.[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")
TRANSPORT_TYPES = {"http", "sse", "stdio", STREAMABLE_HTTP}


def is_server(document: Document) -> bool:
    """Return whether the document describes an MCP server and is of no other format."""
    if OTHER_FORMAT_MEMBERS & document.keys():
        return False
    return has_server_members(document) or has_mcp_servers(document)


def has_server_members(document: Document) -> bool:
    """Return whether the members of the document itself show that it is of MCP."""
    return (
        isinstance(document.get("serverInfo"), dict)
        or has_server_schema(document)
        or has_string_matching(document, "protocolVersion", REVISION_PATTERN)
        or has_string_matching(document, "protocol_version", REVISION_PATTERN)
        or is_registry_entry(document)
        or has_mcp_lists(document)
        or has_described_tools(document)
        or has_mcp_location(document)
    )


def has_mcp_location(document: Document) -> bool:
    """Return whether the document has a URL, and members as in MCP.

    Without a URL, members like `prompts` do not show that the document is one of MCP.
    """
    if not LOCATION_MEMBERS & document.keys():
        return False
    return (
        has_mcp_members(document) or has_tool_names(document) or has_mcp_url(document)
    )


def has_mcp_servers(document: Document) -> bool:
    """Return whether the members of a nested object make the document a server."""
    outer = {key: document[key] for key in document if key not in ("server", "servers")}
    return any(
        has_server_members({**outer, **nested.members})
        for nested in find_nested_servers(document)[:NESTED_LIMIT]
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


def has_described_tools(document: Document) -> bool:
    """Return whether the document has a name and a list of described tools.

    Nothing else may mark it as a document of another format.
    """
    tools = document.get("tools")
    return (
        isinstance(document.get("name"), str)
        and not AGENT_MEMBERS & document.keys()
        and isinstance(tools, list)
        and bool(tools)
        and all(
            isinstance(tool, dict)
            and {"name", "description"} <= tool.keys()
            and not {"function", "parameters", "type"} & tool.keys()
            for tool in tools
        )
    )


def has_tool_names(document: Document) -> bool:
    """Return whether the document lists its tools by name, as some cards do."""
    tools = document.get("tools")
    return (
        isinstance(tools, list)
        and bool(tools)
        and all(isinstance(tool, str) for tool in tools)
        and not AGENT_MEMBERS & document.keys()
        and not isinstance(document.get("capabilities"), list)
    )


def has_mcp_url(document: Document) -> bool:
    """Return whether a named document has a URL as servers of MCP usually have."""
    return isinstance(document.get("name"), str) and (
        isinstance(document.get("sse_url"), str)
        or any(
            has_string_matching(document, key, MCP_URL_PATTERN) for key in URL_MEMBERS
        )
    )


def has_mcp_members(document: Document) -> bool:
    """Return whether the document has a member as in MCP; this alone proves nothing."""
    return (
        has_item_with(document, "tools", {"name"})
        or has_item_with(document, "prompts", {"name"})
        or has_item_with(document, "resources", {"uri"})
        or has_mcp_flags(document.get("capabilities"))
        or any(has_mcp_transport(document, key) for key in ("transport", "transports"))
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


def has_mcp_transport(document: Document, key: str) -> bool:
    """Return whether there is an MCP transport, and a location in it or outside."""
    value = document.get(key)
    other_members = document.keys() - {"transport", "transports"}
    return any(
        is_mcp_transport(item, has_location=bool(other_members & LOCATION_MEMBERS))
        for item in (value if isinstance(value, list) else [value])
    )


def is_mcp_transport(value: Any, *, has_location: bool) -> bool:
    """Return whether the value is a transport of MCP.

    `has_location` is whether there is a URL outside of it.
    """
    transport = value if isinstance(value, dict) else {"type": value}
    transport_type = transport.get("type")
    return (
        (has_location or bool(transport.keys() & {"endpoint", "url"}))
        and isinstance(transport_type, str)
        and normalize_transport_type(transport_type) in TRANSPORT_TYPES
    )

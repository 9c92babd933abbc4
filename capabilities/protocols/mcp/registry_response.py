"""The responses of the MCP registry, which contain a server and its metadata."""

from typing import NamedTuple

from ...problems import Document


class LocatedObject(NamedTuple):
    """An object in a document, and its JSON path."""

    members: Document
    path: str


def unwrap_server(document: Document) -> LocatedObject:
    """Return the server in a response of the registry, or else the document itself."""
    server = document.get("server")
    other_keys = document.keys() - {"server"}
    is_response = all(key.startswith(("_", "x-")) for key in other_keys)
    if isinstance(server, dict) and is_response:
        return LocatedObject(server, "$.server")
    return LocatedObject(document, "$")

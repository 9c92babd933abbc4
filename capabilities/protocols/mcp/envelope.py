"""The envelope in which the API of the MCP registry returns a server."""

from ...problems import Document

# An object of the document, and its JSON path.
Part = tuple[Document, str]


def unwrap_server(document: Document) -> Part:
    """Return the server and its path, with or without an envelope."""
    server = document.get("server")
    envelope_keys = document.keys() - {"server"}
    has_envelope = all(key.startswith(("_", "x-")) for key in envelope_keys)
    if isinstance(server, dict) and has_envelope:
        return server, "$.server"
    return document, "$"

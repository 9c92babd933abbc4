"""The server inside a document: the registry's API answers with an envelope."""

from ...problems import Document

# A part of the document with its path.
Part = tuple[Document, str]


def unwrapped(document: Document) -> Part:
    """Return the server itself and its path, with or without an envelope."""
    server = document.get("server")
    around = document.keys() - {"server"}
    if isinstance(server, dict) and all(key.startswith(("_", "x-")) for key in around):
        return server, "$.server"
    return document, "$"

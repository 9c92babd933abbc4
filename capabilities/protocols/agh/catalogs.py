"""Catalog requests in whois envelopes, and the documents of the responses."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from ...problems import Document, member_path
from .bodies import check_digest, read_capability_document
from .cards import CATALOG_KEY
from .documents import CapabilityDocument
from .errors import build_malformed_error
from .identifiers import normalize_text

INCLUDE_KEY = "agh.include"
CAPABILITY_IDS_KEY = "agh.capability_ids"
INCLUDE_CATALOG = "capability_catalog"


@dataclass(frozen=True, slots=True)
class CatalogRequest:
    """A whois sender's request for documents; `ids` None requests all of them."""

    include_documents: bool = False
    ids: frozenset[str] | None = None

    @classmethod
    def from_ext(cls, ext: Document) -> Self:
        """Parse the ext of a whois request; a malformed ID filter requests nothing."""
        if INCLUDE_CATALOG not in (read_strings(ext.get(INCLUDE_KEY)) or ()):
            return cls()
        if CAPABILITY_IDS_KEY not in ext:
            return cls(include_documents=True)
        ids = frozenset(read_strings(ext[CAPABILITY_IDS_KEY]) or ())
        return cls(include_documents=True, ids=ids)

    def to_ext(self) -> Document:
        """Return the envelope ext that makes this request."""
        if not self.include_documents:
            return {}
        id_filter = {} if self.ids is None else {CAPABILITY_IDS_KEY: sorted(self.ids)}
        return {INCLUDE_KEY: [INCLUDE_CATALOG], **id_filter}

    def is_requested(self, capability_id: str) -> bool:
        """Return whether the document of this capability is requested."""
        if not self.include_documents:
            return False
        return self.ids is None or capability_id in self.ids


def read_strings(value: Any) -> list[str] | None:
    """Return the normalized non-blank strings, None if this is no list of strings."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return [text for item in value if (text := normalize_text(item))]


def build_catalog_ext(
    documents: Iterable[CapabilityDocument], request: CatalogRequest
) -> Document:
    """Return the response ext with the requested documents in catalog order."""
    if not request.include_documents:
        return {}
    selected = [
        document.to_wire()
        for document in documents
        if request.is_requested(document.id)
    ]
    return {CATALOG_KEY: {"capabilities": selected}}


def read_catalog(
    ext: Document, path: str = "$.ext"
) -> tuple[CapabilityDocument, ...] | None:
    """Return the documents in a whois response's ext, or None without a catalog.

    Documents without a digest are included as unverified. Raise EnvelopeError for a
    wrong digest, an invalid document or a malformed catalog.
    """
    if CATALOG_KEY not in ext:
        return None
    catalog_path, catalog = member_path(path, CATALOG_KEY), ext[CATALOG_KEY]
    items = catalog.get("capabilities") if isinstance(catalog, dict) else None
    if not isinstance(items, list):
        message = "must be an object with a list of capabilities"
        raise build_malformed_error(message, catalog_path)
    return tuple(read_documents(items, member_path(catalog_path, "capabilities")))


def read_documents(items: list[Any], path: str) -> Iterator[CapabilityDocument]:
    """Yield each document; raise EnvelopeError if one is invalid or repeats an ID."""
    seen_ids = set[str]()
    for index, item in enumerate(items):
        item_path = f"{path}[{index}]"
        document = read_capability_document(item, item_path)
        if document.received_digest:
            check_digest(document, item_path)
        if document.id in seen_ids:
            message = f"must be unique; {document.id!r} is already listed"
            raise build_malformed_error(message, member_path(item_path, "id"))
        seen_ids.add(document.id)
        yield document

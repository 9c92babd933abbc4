"""Merging of a peer's stored capabilities with those of a new peer card."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from ...interfaces import CapabilityMerger
from ...problems import Document
from ...records import CAPABILITY_LIMIT, CapabilityRecord
from .definitions import is_catalog
from .records import AGHCapability


class DocumentMerger(CapabilityMerger):
    """Keeps stored documents when a new peer card contains only briefs."""

    def merge(
        self, stored: Iterable[CapabilityRecord], declared: Iterable[CapabilityRecord]
    ) -> Iterable[CapabilityRecord]:
        agh_records = (record for record in stored if isinstance(record, AGHCapability))
        return merge_capabilities(agh_records, declared)

    def is_complete(self, document: Document) -> bool:
        """Return whether the definition is a catalog, which has all documents."""
        return is_catalog(document)

    def rebuild_capability(self, record: CapabilityRecord) -> CapabilityRecord | None:
        """Return the capability rebuilt from its document, None without a document."""
        if not isinstance(record, AGHCapability):
            return None
        document = record.load_document()
        if document is None:
            return None
        return AGHCapability.from_document(document, record.get_relay_members())


def merge_capabilities(
    stored: Iterable[AGHCapability], declared: Iterable[CapabilityRecord]
) -> Iterator[CapabilityRecord]:
    """Yield the declared capabilities, each with the better document, then the others.

    Stored documents that are not declared are dropped only beyond CAPABILITY_LIMIT.
    """
    documents = {
        record.name: record for record in stored if record.document is not None
    }
    merged = [
        choose_capability(documents.pop(record.name, None), record)
        for record in declared
    ]
    yield from merged
    yield from islice(documents.values(), max(0, CAPABILITY_LIMIT - len(merged)))


def choose_capability(
    stored: AGHCapability | None, new: CapabilityRecord
) -> CapabilityRecord:
    """Return the new capability unless the stored one has a better document.

    An unverified document never replaces a verified one.
    """
    if stored is None or not isinstance(new, AGHCapability):
        return new
    if new.document is None or (stored.verified and not new.verified):
        return stored
    if stored.digest != new.digest:
        return new
    return replace(new, relay=new.relay or stored.relay)

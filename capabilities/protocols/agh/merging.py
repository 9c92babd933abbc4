"""What stays known of a peer when it says something new."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from ...interfaces import CapabilityMerger
from ...records import CAPABILITY_LIMIT, CapabilityRecord
from .records import AGHCapability


class DocumentMerger(CapabilityMerger):
    """Keeps the documents of a peer that its next card only names."""

    def merge(
        self, stored: Iterable[CapabilityRecord], stated: Iterable[CapabilityRecord]
    ) -> Iterable[CapabilityRecord]:
        mine = (record for record in stored if isinstance(record, AGHCapability))
        return merged(mine, stated)

    def restore(self, record: CapabilityRecord) -> CapabilityRecord | None:
        """Return the capability with the proof that its document carries."""
        document = record.whole() if isinstance(record, AGHCapability) else None
        if document is None or not isinstance(record, AGHCapability):
            return None
        return AGHCapability.holding(document, record.relayed())


def merged(
    known: Iterable[AGHCapability], stated: Iterable[CapabilityRecord]
) -> Iterator[CapabilityRecord]:
    """By id: what is known in full is never lost to a brief, named there or not.

    Unless there is no room for all of it beside what the peer says itself.
    """
    kept = {one.name: one for one in known if one.document is not None}
    told = [renewed(kept.pop(record.name, None), record) for record in stated]
    yield from told
    yield from islice(kept.values(), max(0, CAPABILITY_LIMIT - len(told)))


def renewed(known: AGHCapability | None, fresh: CapabilityRecord) -> CapabilityRecord:
    """The fresh one; but nothing that proves itself gives way to what does not."""
    if known is None or not isinstance(fresh, AGHCapability):
        return fresh
    if fresh.document is None or (known.verified and not fresh.verified):
        return known
    if known.digest != fresh.digest:
        return fresh
    return replace(fresh, relay=fresh.relay or known.relay)

"""What stays known of a peer when it says something new."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...records import CapabilityRecord
from .records import AGHCapability


def merged(
    known: Iterable[AGHCapability], stated: Iterable[CapabilityRecord]
) -> Iterator[CapabilityRecord]:
    """By id: what is known in full is never lost to a brief, named there or not."""
    kept = {one.name: one for one in known if one.document is not None}
    for record in stated:
        yield renewed(kept.pop(record.name, None), record)
    yield from kept.values()


def renewed(known: AGHCapability | None, fresh: CapabilityRecord) -> CapabilityRecord:
    """The fresh one; but nothing that proves itself gives way to what does not."""
    if known is None or not isinstance(fresh, AGHCapability):
        return fresh
    if fresh.document is None or (known.verified and not fresh.verified):
        return known
    if known.digest != fresh.digest:
        return fresh
    return replace(fresh, relay=fresh.relay or known.relay)

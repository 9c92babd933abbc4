"""A definition as it came in: its bytes, what they say, and where they are from."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from capabilities.documents import dumped, read_json
from capabilities.kinds import kinds
from capabilities.parsers import ParseError, Reading, examine, parse, parsers
from capabilities.problems import Problem, Problems
from capabilities.records import CAPABILITY_LIMIT, AgentRecord

from ..models import Capability, CatalogEntry, Source


class Due(StrEnum):
    """When an agent is probed, after its definition came in."""

    AT_ONCE = "at once"
    BY_CALLER = "by whoever brings it, and by nobody else meanwhile"
    AS_PLANNED = "as planned"


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition as it came in: the bytes, what they say, and where they are from."""

    record: AgentRecord
    raw: bytes
    source: str = Source.PUSH
    url: str = ""
    etag: str = ""
    # Whether it says all there is: nothing else that is known stays beside it.
    complete: bool = False
    # Whether it says less than any other, and stands only where there is none.
    introduces: bool = False
    # Why it does not say all, if it does not.
    problem: str = ""
    # Whether it was told to one who showed an `Authorization`, and perhaps only so.
    authorized: bool = False
    due: Due = Due.AT_ONCE
    # The entry it was fetched again for, as that was then.
    refreshes: CatalogEntry | None = None

    def under(self, raw: bytes) -> "Definition":
        """The same, beneath a definition that stays."""
        stated = examine(raw, self.record.protocol, self.record.endpoint).record
        if stated is None:
            return self
        record = stated.enriched(self.record.capabilities)
        return replace(self, record=record, raw=raw)

    def completed_by(self, held: bytes) -> "Definition":
        """The same with what the running agent told beside the one we hold."""
        record, parser = self.record, parsers.get(self.record.protocol)
        introspector = parser.introspector if parser else None
        if introspector is None:
            return self
        document = read_json(self.raw, Problems())
        stored = read_json(held, Problems())
        whole = introspector.preserve_introspected(document, stored)
        if whole == document:
            return self
        raw = dumped(whole)
        record, _ = parse(raw, record.protocol, record.endpoint)
        return replace(self, record=record, raw=raw)

    def beside(self, rows: Iterable[Capability]) -> "Definition":
        """The same with its capabilities as they will be, given those there are."""
        parser = parsers.get(self.record.protocol)
        merger = parser.capability_merger if parser else None
        if parser is None or merger is None or self.complete:
            return self
        known = (row.record for row in rows if row.kind in kinds)
        merged = tuple(merger.merge(known, self.record.capabilities))
        if len(merged) > CAPABILITY_LIMIT:
            message = f"would have {len(merged)} capabilities, over {CAPABILITY_LIMIT}"
            raise ParseError(Reading(parser.slug, errors=[Problem("$", message)]))
        return replace(self, record=replace(self.record, capabilities=merged))

    def again_for(self, entry: CatalogEntry) -> "Definition":
        """As news of that entry and of no other; whose source stays what it was."""
        return replace(self, refreshes=entry, source=entry.source)

    @property
    def repeats_itself(self) -> bool:
        """Whether its agent says the like every minute, each time in other words."""
        parser = parsers.get(self.record.protocol)
        return parser is not None and parser.presence_policy is not None

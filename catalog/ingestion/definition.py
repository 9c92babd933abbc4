"""A received definition: its bytes, the parsed record and where it came from."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from capabilities.documents import dump_json, read_document, read_json
from capabilities.kinds import kinds
from capabilities.parsers import ParseError, ParseResult, parse, parsers
from capabilities.problems import Problem, Problems
from capabilities.records import CAPABILITY_LIMIT, AgentRecord

from ..models import Capability, CatalogEntry, Source


class ProbeTiming(StrEnum):
    """When an agent is probed after its definition was stored."""

    NOW = "now"
    # The caller of `ingest` probes the agent. A lease keeps schedulers from doing so.
    BY_CALLER = "by the caller"
    ON_SCHEDULE = "on schedule"


@dataclass(frozen=True, slots=True)
class Definition:
    """What `ingest` stores: a definition, and how to store it."""

    record: AgentRecord
    raw: bytes
    source: str = Source.PUSH
    url: str = ""
    etag: str = ""
    # Whether its capabilities replace the stored ones instead of being merged.
    replaces_capabilities: bool = False
    # Whether it holds only some capabilities: a stored definition is kept.
    is_partial: bool = False
    # Why it is incomplete, "" if it is complete.
    incomplete_reason: str = ""
    # Whether an `Authorization` header was sent to get it.
    authorized: bool = False
    probe_timing: ProbeTiming = ProbeTiming.NOW
    # The entry being refreshed, as it was before the fetch.
    refreshed_entry: CatalogEntry | None = None

    def added_to(self, entry: CatalogEntry) -> "Definition":
        """Return the entry's definition with the capabilities of this one added."""
        stored = entry.parse_definition().record
        if stored is None:
            return self
        record = stored.with_updated_capabilities(self.record.capabilities)
        return replace(self, record=record, raw=entry.agent_type.definition)

    def with_introspected_members(self, stored_raw: bytes) -> "Definition":
        """Return a copy with what introspection added to the stored definition."""
        record, parser = self.record, parsers.get(self.record.protocol)
        introspector = parser.introspector if parser else None
        if introspector is None:
            return self
        document = read_json(self.raw, Problems())
        stored = read_json(stored_raw, Problems())
        merged = introspector.preserve_introspected(document, stored)
        if merged == document:
            return self
        raw = dump_json(merged)
        record, _ = parse(raw, record.protocol, record.endpoint, self.url)
        return replace(self, record=record, raw=raw)

    def with_merged_capabilities(self, rows: Iterable[Capability]) -> "Definition":
        """Return a copy whose capabilities are merged with the stored ones.

        Raise ParseError if there are more than CAPABILITY_LIMIT afterwards.
        """
        parser = parsers.get(self.record.protocol)
        merger = parser.capability_merger if parser else None
        if parser is None or merger is None or self.replaces_capabilities:
            return self
        if merger.is_complete(read_document(self.raw, Problems())):
            return self
        stored = (row.record for row in rows if row.kind in kinds)
        merged = tuple(merger.merge(stored, self.record.capabilities))
        if len(merged) > CAPABILITY_LIMIT:
            message = f"would have {len(merged)} capabilities, over {CAPABILITY_LIMIT}"
            raise ParseError(ParseResult(parser.slug, errors=[Problem("$", message)]))
        return replace(self, record=replace(self.record, capabilities=merged))

    def as_refresh_of(self, entry: CatalogEntry) -> "Definition":
        """Return a copy that may only update this entry and keeps its source."""
        return replace(self, refreshed_entry=entry, source=entry.source)

    @property
    def announces_presence(self) -> bool:
        """Whether the agent sends definitions repeatedly to signal that it is up."""
        parser = parsers.get(self.record.protocol)
        return parser is not None and parser.presence_policy is not None

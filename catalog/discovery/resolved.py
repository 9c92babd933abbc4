"""A definition that was found, with the record parsed from it."""

from dataclasses import dataclass, field, replace

from capabilities.documents import dump_json, read_json
from capabilities.parsers import Parser, parse
from capabilities.problems import Document, Problem, Problems, UnreadableDocument
from capabilities.records import AgentRecord

from ..ingestion import Definition, ProbeTiming
from ..models import Source
from ..outbound import FetchResult


@dataclass(frozen=True, slots=True)
class ResolvedDefinition:
    """A definition fetched from a URL and the record parsed from it."""

    fetched: FetchResult
    record: AgentRecord
    warnings: list[Problem] = field(default_factory=list)
    # Why it is incomplete, "" if it is complete.
    incomplete_reason: str = ""
    # Whether an `Authorization` header was sent to get it.
    authorized: bool = False

    @property
    def definition(self) -> Definition:
        """The definition as it is ingested: imported from its URL."""
        fetched = self.fetched
        return Definition(
            self.record,
            fetched.body,
            source=Source.IMPORT,
            url=fetched.url,
            etag=fetched.etag,
            incomplete_reason=self.incomplete_reason,
            authorized=self.authorized,
            probe_timing=ProbeTiming.BY_CALLER,
        )

    def with_incomplete_reason(self, reason: str) -> "ResolvedDefinition":
        """Return a copy with this reason, also as a warning, or self if it is ""."""
        if not reason:
            return self
        warnings = [Problem("$", reason), *self.warnings]
        return replace(self, incomplete_reason=reason, warnings=warnings)


def parse_json_or_empty(raw: bytes) -> Document:
    try:
        return read_json(raw, Problems())
    except UnreadableDocument:
        return {}


def build_resolved(
    document: Document, fetched: FetchResult, parser: Parser, incomplete_reason: str
) -> ResolvedDefinition:
    """Return a document combined from several responses as if it had been fetched."""
    raw = dump_json(document)
    record, warnings = parse(raw, parser.slug, base_url=fetched.url)
    found = ResolvedDefinition(replace(fetched, body=raw), record, warnings)
    return found.with_incomplete_reason(incomplete_reason)

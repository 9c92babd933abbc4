"""From a document or a URL to a catalogued entry."""

import asyncio
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlsplit, urlunsplit

from asgiref.sync import async_to_sync
from django.conf import settings
from django.utils import timezone

from capabilities.parsers import ParseError, parse, parsers
from capabilities.problems import Problem
from capabilities.records import AgentRecord

from .fetch import (
    AuthorizationNeeded,
    Fetched,
    FetchError,
    FetchTimeout,
    UrlNotAllowed,
    check_url,
    fetch,
)
from .health import Probe, record
from .ingest import Definition, Outcome, ingest
from .introspect import introspect
from .models import CatalogEntry, Source
from .probing import probe, target_of

MCP = "mcp"


@dataclass(frozen=True, slots=True)
class Found:
    """A definition found at a URL, and what it says."""

    fetched: Fetched
    record: AgentRecord
    warnings: list[Problem]


def register(raw: bytes, protocol: str = "", source: str = Source.PUSH) -> Outcome:
    """Catalogue a definition that somebody handed us."""
    record, warnings = parse(raw, protocol)
    return replace(ingest(Definition(record, raw, source)), warnings=warnings)


def import_url(url: str, protocol: str = "", authorization: str = "") -> Outcome:
    """Catalogue the definition at a URL, or at the places where its host keeps one.

    A running MCP server is asked what it offers; `authorization` is for that, once.
    """
    return import_found(find(url, protocol, authorization))


def import_found(found: Found) -> Outcome:
    """Catalogue it and probe it, so that a fresh entry is searchable at once."""
    url, raw, etag = found.fetched.url, found.fetched.body, found.fetched.etag
    definition = Definition(found.record, raw, Source.IMPORT, url, etag)
    outcome = replace(ingest(definition), warnings=found.warnings)
    probe_now(outcome.entry)
    return outcome


def pause_left(entry: CatalogEntry) -> float:
    """How long to wait before the same agent may be probed by hand again."""
    if entry.last_probed_at is None:
        return 0.0
    gone = (timezone.now() - entry.last_probed_at).total_seconds()
    return max(0.0, settings.AGENTLENS_PROBE_PAUSE - gone)


def probe_now(entry: CatalogEntry) -> Probe | None:
    """Probe an entry and write down how it is; None for one that is never probed."""
    if not entry.can_be_probed:
        return None
    outcome = async_to_sync(probe)(target_of(entry))
    record(entry, outcome)
    entry.refresh_from_db()
    return outcome


def find(url: str, protocol: str = "", authorization: str = "") -> Found:
    """The first definition at the URL or its well-known places; nothing is stored."""
    check_url(url)
    places = list(dict.fromkeys(candidates(url, protocol)))
    search = Search(url, places, held(places), protocol, authorization)
    return async_to_sync(search.run)()


def held(places: list[str]) -> dict[str, Fetched]:
    """What we hold from these places already, the latest seen of each."""
    # A definition pushed since did not come with the ETag we remember.
    entries = CatalogEntry.objects.filter(source=Source.IMPORT, source_url__in=places)
    entries = entries.select_related("agent_type").order_by("validity_last_seen")
    return {
        entry.source_url: Fetched(
            entry.source_url, entry.agent_type.definition, entry.source_etag
        )
        for entry in entries
    }


def candidates(url: str, protocol: str) -> Iterator[str]:
    """The URL as given, then the well-known paths below it and at its root."""
    parts = urlsplit(url)
    if parts.path not in ("", "/") or parts.query:
        yield url
    asked = [parser for parser in parsers if protocol in ("", parser.slug)]
    for base in (parts.path.rstrip("/"), ""):
        for parser in asked:
            for path in parser.well_known:
                yield urlunsplit((parts.scheme, parts.netloc, base + path, "", ""))
    yield url


@dataclass(frozen=True, slots=True)
class Search:
    """For the definition of the agent at a URL, all within the time of one fetch."""

    url: str
    places: list[str]
    known: dict[str, Fetched]
    protocol: str
    authorization: str

    async def run(self) -> Found:
        """Ask each in turn; when none has one, tell the most telling reason."""
        failures: list[Exception] = []
        try:
            async with asyncio.timeout(settings.AGENTLENS_FETCH_TIMEOUT):
                for attempt in self.attempts():
                    try:
                        found = await attempt
                    except UrlNotAllowed:
                        raise
                    except (FetchError, ParseError) as error:
                        failures.append(error)
                    else:
                        return self.remarked(found, failures)
        except TimeoutError:
            failures.append(FetchTimeout("No definition was found in time"))
        raise max(failures, key=telling)

    def attempts(self) -> Iterator[Awaitable[Found]]:
        """A server that is said to speak MCP is asked itself; else it comes last."""
        if self.protocol == MCP:
            yield self.live()
        for place in self.places:
            yield self.at(place)
        if not self.protocol:
            yield self.live()

    async def at(self, place: str) -> Found:
        known = self.known.get(place)
        fetched = await fetch(place, known.etag if known else "")
        if known and fetched.not_modified:
            fetched = known
        return Found(fetched, *parse(fetched.body, self.protocol))

    async def live(self) -> Found:
        raw = await introspect(self.url, self.authorization)
        return Found(Fetched(self.url, raw), *parse(raw, MCP))

    def remarked(self, found: Found, failures: list[Exception]) -> Found:
        """A card found where the server itself would not talk: say what is missing."""
        closed = any(isinstance(failure, AuthorizationNeeded) for failure in failures)
        if not closed:
            return found
        message = "the server asks for authorisation: only its card was read"
        return replace(found, warnings=[Problem("$", message), *found.warnings])


def telling(error: Exception) -> int:
    """A card with faults says more than a page that is none, and that than silence."""
    if isinstance(error, AuthorizationNeeded):
        return 1
    if not isinstance(error, ParseError):
        return 0
    reading = error.reading
    return 2 + bool(reading.protocol) + bool(reading.record)

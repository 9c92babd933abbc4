"""From a document or a URL to a catalogued entry."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlsplit, urlunsplit

from asgiref.sync import async_to_sync
from django.conf import settings

from capabilities.parsers import ParseError, parse, parsers
from capabilities.problems import Problem
from capabilities.records import AgentRecord

from .fetch import Fetched, FetchError, FetchTimeout, UrlNotAllowed, check_url, fetch
from .health import Probe, record
from .ingest import Definition, Outcome, ingest
from .models import CatalogEntry, Source
from .probing import probe, target_of


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


def import_url(url: str, protocol: str = "") -> Outcome:
    """Catalogue the definition at a URL, or at the places where its host keeps one."""
    return import_found(find(url, protocol))


def import_found(found: Found) -> Outcome:
    """Catalogue it and probe it, so that a fresh entry is searchable at once."""
    url, raw, etag = found.fetched.url, found.fetched.body, found.fetched.etag
    definition = Definition(found.record, raw, Source.IMPORT, url, etag)
    outcome = replace(ingest(definition), warnings=found.warnings)
    probe_now(outcome.entry)
    return outcome


def probe_now(entry: CatalogEntry) -> Probe | None:
    """Probe an entry and write down how it is; None for one that is never probed."""
    if not entry.can_be_probed:
        return None
    outcome = async_to_sync(probe)(target_of(entry))
    record(entry, outcome)
    entry.refresh_from_db()
    return outcome


def find(url: str, protocol: str = "") -> Found:
    """The first definition at the URL or its well-known places; nothing is stored."""
    check_url(url)
    places = list(dict.fromkeys(candidates(url, protocol)))
    return async_to_sync(first_definition)(places, held(places), protocol)


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


async def first_definition(
    places: list[str], known: dict[str, Fetched], protocol: str
) -> Found:
    """Ask each place in turn, all within the time of one fetch."""
    failures: list[Exception] = []
    try:
        async with asyncio.timeout(settings.AGENTLENS_FETCH_TIMEOUT):
            for place in places:
                try:
                    return await definition_at(place, known.get(place), protocol)
                except UrlNotAllowed:
                    raise
                except (FetchError, ParseError) as error:
                    failures.append(error)
    except TimeoutError:
        failures.append(FetchTimeout("No definition was found in time"))
    raise max(failures, key=telling)


async def definition_at(place: str, known: Fetched | None, protocol: str) -> Found:
    fetched = await fetch(place, known.etag if known else "")
    if known and fetched.not_modified:
        fetched = known
    return Found(fetched, *parse(fetched.body, protocol))


def telling(error: Exception) -> int:
    """A card with faults says more than a page that is none, and that than silence."""
    if not isinstance(error, ParseError):
        return 0
    reading = error.reading
    return 1 + bool(reading.protocol) + bool(reading.record)

"""From a document or a URL to a catalogued entry."""

import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import cache
from threading import BoundedSemaphore
from typing import ParamSpec, TypeVar

from asgiref.sync import async_to_sync
from django.db.models import Q
from django.utils import timezone

from capabilities.parsers import parse, source_of

from ..conf import conf
from ..discovery import ResolvedDefinition, resolver_for_entry, resolver_for_url
from ..health import Probe, lease_end, probe_target, record, target_of
from ..ingestion import Definition, Outcome, foreseen, ingest
from ..models import CatalogEntry, Source, agent_key
from ..outbound import TooBusy

P = ParamSpec("P")
R = TypeVar("R")
# Whether this thread holds a slot.
mine = threading.local()


class NotRefreshable(Exception):
    """An entry whose definition is not to be found again where it came from."""


@cache
def slots() -> BoundedSemaphore:
    """Threads that may wait for agents at once; the others go on answering people."""
    return BoundedSemaphore(conf.FETCH_SLOTS)


@contextmanager
def waiting() -> Iterator[None]:
    """A place among those who wait for agents; one is enough for all that one does."""
    if getattr(mine, "has_slot", False):
        yield
        return
    semaphore = slots()
    if not semaphore.acquire(blocking=False):
        raise TooBusy("Too many agents are being asked just now")
    mine.has_slot = True
    try:
        yield
    finally:
        mine.has_slot = False
        semaphore.release()


def outside(ask: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
    """Wait for what somebody out there says; raises when too many wait already."""
    with waiting():
        return async_to_sync(ask)(*args, **kwargs)


def register(
    raw: bytes,
    protocol: str = "",
    source: str = "",
    usual: str = Source.PUSH,
    endpoint: str = "",
) -> Outcome:
    """Catalogue a definition that somebody handed us.

    Without a source it has its protocol's own, or the usual one. `endpoint` is where
    the agent is, if the definition does not say.
    """
    record, warnings = parse(raw, protocol, endpoint)
    source = source or source_of(record.protocol) or usual
    return replace(ingest(Definition(record, raw, source)), warnings=warnings)


def import_url(
    url: str, protocol: str = "", authorization: str = "", capabilities_url: str = ""
) -> Outcome:
    """Catalogue the definition at a URL, or at the places where its host keeps one.

    A running MCP server is asked what it offers; `authorization` is for that, once.
    `capabilities_url` is where an AG-UI agent tells what it supports, if elsewhere.
    """
    with waiting():
        return import_found(find(url, protocol, authorization, capabilities_url))


def find(
    url: str, protocol: str = "", authorization: str = "", capabilities_url: str = ""
) -> ResolvedDefinition:
    """The definition that an import would catalogue; nothing is stored."""
    resolver = resolver_for_url(url, protocol, authorization, capabilities_url)
    return outside(resolver.run)


def import_found(
    found: ResolvedDefinition, refreshes: CatalogEntry | None = None
) -> Outcome:
    """Catalogue it and probe it, so that a fresh entry is searchable at once.

    As news of the entry that it was fetched again for, if it was.
    """
    definition = found.definition
    if refreshes is not None:
        definition = definition.again_for(refreshes)
    outcome = replace(ingest(definition), warnings=found.warnings)
    try:
        probe_now(outcome.entry)
    except TooBusy:
        # It is catalogued; a prober will come by.
        due = CatalogEntry.objects.filter(pk=outcome.entry.pk)
        due.update(next_probe_at=timezone.now())
    return outcome


def refresh_entry(entry: CatalogEntry, authorization: str = "") -> Outcome:
    """Fetch or introspect again, catalogue what is found, and probe."""
    with waiting():
        return import_found(find_again(entry, authorization), entry)


def dry_run_refresh(entry: CatalogEntry, authorization: str = "") -> Outcome:
    """What a refresh would do; nothing is stored."""
    found = find_again(entry, authorization)
    return replace(foreseen(entry, found.definition), warnings=found.warnings)


def find_again(entry: CatalogEntry, authorization: str = "") -> ResolvedDefinition:
    """The entry's definition as it is published now; nothing is stored."""
    if not entry.can_be_refreshed:
        raise NotRefreshable("This definition is not published anywhere that we know")
    return same_agent(entry, outside(resolver_for_entry(entry, authorization).run))


def same_agent(entry: CatalogEntry, found: ResolvedDefinition) -> ResolvedDefinition:
    """Another agent at the old address is not a new version of this one."""
    if agent_key(found.record.protocol, found.record.endpoint) != entry.agent_key:
        raise NotRefreshable(
            f"Another agent is published there now, {found.record.endpoint}:"
            " register that one, and deprecate this one if it is gone"
        )
    return found


class TooSoon(TooBusy):
    """Somebody has just asked this one."""

    def __init__(self, wait: float) -> None:
        super().__init__("This agent was just probed")
        self.wait = wait


def probe_asked(entry: CatalogEntry) -> Probe | None:
    """Probe an entry because somebody wants it; raises when it was just probed."""
    with waiting():
        claim_probe(entry)
        return probe_now(entry)


def claim_probe(entry: CatalogEntry) -> None:
    """Make this probe ours, and nobody else's meanwhile."""
    now, pause = timezone.now(), timedelta(seconds=conf.PROBE_PAUSE)
    rested = Q(asked_at=None) | Q(asked_at__lte=now - pause)
    mine = CatalogEntry.objects.filter(rested, pk=entry.pk)
    if not mine.update(asked_at=now, next_probe_at=lease_end()):
        entry.refresh_from_db(fields=["asked_at"])
        asked_at = entry.asked_at or now
        raise TooSoon(max(0.001, (asked_at + pause - now).total_seconds()))


def probe_now(entry: CatalogEntry) -> Probe | None:
    """Probe an entry and write down how it is; None for one that is never probed."""
    if not entry.can_be_probed:
        return None
    outcome = outside(probe_target, target_of(entry))
    record(entry, outcome)
    entry.refresh_from_db()
    return outcome

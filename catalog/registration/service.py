"""Register, refresh and probe catalog entries."""

import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from math import ceil
from threading import BoundedSemaphore
from typing import ParamSpec, TypeVar

from asgiref.sync import async_to_sync
from django.db.models import Q
from django.utils import timezone

from capabilities.parsers import get_source, is_stub, parse

from ..conf import conf
from ..discovery import (
    ResolvedDefinition,
    build_resolver_for_entry,
    build_resolver_for_url,
)
from ..health import (
    ProbeOutcome,
    ProbeTarget,
    compute_lease_end,
    record_probe,
    run_probe,
)
from ..ingestion import (
    Definition,
    IngestResult,
    ingest,
    is_same_agent,
    preview_ingest,
)
from ..models import CatalogEntry, Source
from ..outbound import TooBusy

P = ParamSpec("P")
R = TypeVar("R")
# Shown to people when `CatalogEntry.can_be_probed` is false.
CANNOT_BE_PROBED = (
    "This agent cannot be probed: it is deprecated, a demo agent, or has no URL to"
    " probe"
)
# Whether the current thread holds a fetch slot.
thread_state = threading.local()


class NotRefreshable(Exception):
    """The definition of an entry cannot be fetched again from its source."""


@cache
def get_fetch_slots() -> BoundedSemaphore:
    """Return the semaphore that limits how many threads wait for agents.

    Without it, slow agents could occupy all threads of the server.
    """
    return BoundedSemaphore(conf.FETCH_SLOTS)


@contextmanager
def fetch_slot() -> Iterator[None]:
    """Hold a fetch slot; nested uses in the same thread share one.

    Raise TooBusy if all slots are taken.
    """
    if getattr(thread_state, "has_slot", False):
        yield
        return
    semaphore = get_fetch_slots()
    if not semaphore.acquire(blocking=False):
        raise TooBusy("Too many agents are being contacted: try again later")
    thread_state.has_slot = True
    try:
        yield
    finally:
        thread_state.has_slot = False
        semaphore.release()


def run_in_fetch_slot(
    function: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs
) -> R:
    """Run an asynchronous function that contacts agents in a fetch slot.

    Raise TooBusy if all slots are taken.
    """
    with fetch_slot():
        return async_to_sync(function)(*args, **kwargs)


def register(
    raw: bytes,
    protocol: str = "",
    source: str = "",
    default_source: str = Source.PUSH,
    endpoint: str = "",
) -> IngestResult:
    """Register the definition in a document.

    Without `source`, the entry gets its protocol's source or `default_source`.
    `endpoint` is the agent's URL, for definitions that do not contain it.
    """
    record, warnings = parse(raw, protocol, endpoint)
    source = source or get_source(record.protocol) or default_source
    return ingest(Definition(record, raw, source=source)).with_warnings(warnings)


def import_url(
    url: str,
    protocol: str = "",
    authorization: str = "",
    capabilities_url: str = "",
    allow_stub: bool = False,
) -> IngestResult:
    """Register the definition at a URL or at the well-known paths of its host.

    `authorization` is sent once and never stored. `capabilities_url` is where an agent
    declares its capabilities, if its definition is not at its own URL. With
    `allow_stub`, an agent whose server requires authorization is registered without
    its definition.
    """
    with fetch_slot():
        return import_resolved(
            resolve_url(url, protocol, authorization, capabilities_url, allow_stub)
        )


def resolve_url(
    url: str,
    protocol: str = "",
    authorization: str = "",
    capabilities_url: str = "",
    allow_stub: bool = False,
) -> ResolvedDefinition:
    """Return the definition that an import would register, without storing it."""
    resolver = build_resolver_for_url(
        url, protocol, authorization, capabilities_url, allow_stub
    )
    return run_in_fetch_slot(resolver.run)


def import_resolved(
    resolved: ResolvedDefinition, refreshed_entry: CatalogEntry | None = None
) -> IngestResult:
    """Ingest a resolved definition and probe its agent.

    The probe makes a new entry searchable immediately.
    """
    definition = resolved.definition
    if refreshed_entry is not None:
        definition = definition.as_refresh_of(refreshed_entry)
    result = ingest(definition).with_warnings(resolved.warnings)
    try:
        probe_now(result.entry)
    except TooBusy:
        # The scheduler probes it instead.
        entries = CatalogEntry.objects.filter(pk=result.entry.pk)
        entries.update(next_probe_at=timezone.now())
    return result


def refresh_entry(entry: CatalogEntry, authorization: str = "") -> IngestResult:
    """Fetch or introspect the definition again, ingest it and probe the agent."""
    with fetch_slot():
        return import_resolved(resolve_refresh(entry, authorization), entry)


def dry_run_refresh(entry: CatalogEntry, authorization: str = "") -> IngestResult:
    """Return what a refresh would change, without storing anything."""
    resolved = resolve_refresh(entry, authorization)
    result = preview_ingest(entry, resolved.definition)
    return result.with_warnings(resolved.warnings)


def resolve_refresh(entry: CatalogEntry, authorization: str = "") -> ResolvedDefinition:
    """Return the definition that a refresh would ingest, without storing it."""
    if not entry.can_be_refreshed:
        raise NotRefreshable(
            "This agent cannot be refreshed: it is a demo agent, or has no URL to fetch"
            " its definition from"
        )
    resolver = build_resolver_for_entry(entry, authorization)
    resolved = run_in_fetch_slot(resolver.run)
    check_same_agent(entry, resolved)
    return resolved


def check_same_agent(entry: CatalogEntry, resolved: ResolvedDefinition) -> None:
    """Raise NotRefreshable if the definition is of another agent than the entry.

    A stub may become any agent of its host: only then is its endpoint known.
    """
    agent_type = entry.agent_type
    if is_stub(agent_type.definition, agent_type.protocol):
        return
    if not is_same_agent(entry, resolved.record):
        raise NotRefreshable(
            f"The URL now publishes another agent ({resolved.record.endpoint}):"
            " register that one, and deprecate this one if it is gone"
        )


class ProbedTooRecently(TooBusy):
    """The agent was probed less than PROBE_PAUSE seconds ago."""

    def __init__(self, wait: float) -> None:
        super().__init__(f"This agent was just probed: try again in {ceil(wait)} s")
        self.wait = wait


def probe_on_demand(entry: CatalogEntry) -> ProbeOutcome | None:
    """Probe an entry on request; raise ProbedTooRecently within PROBE_PAUSE."""
    with fetch_slot():
        claim_probe(entry)
        return probe_now(entry)


def claim_probe(entry: CatalogEntry) -> None:
    """Reserve the probe of an entry; raise ProbedTooRecently within PROBE_PAUSE."""
    now, pause = timezone.now(), timedelta(seconds=conf.PROBE_PAUSE)
    is_due = Q(probe_requested_at=None) | Q(probe_requested_at__lte=now - pause)
    claimable = CatalogEntry.objects.filter(is_due, pk=entry.pk)
    if not claimable.update(probe_requested_at=now, next_probe_at=compute_lease_end()):
        entry.refresh_from_db(fields=["probe_requested_at"])
        probe_requested_at = entry.probe_requested_at or now
        raise ProbedTooRecently(
            max(0.001, (probe_requested_at + pause - now).total_seconds())
        )


def probe_now(entry: CatalogEntry) -> ProbeOutcome | None:
    """Probe an entry and record the outcome; return None if it is never probed."""
    if not entry.can_be_probed:
        return None
    outcome = run_in_fetch_slot(run_probe, ProbeTarget.from_entry(entry))
    record_probe(entry, outcome)
    entry.refresh_from_db()
    return outcome

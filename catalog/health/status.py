"""What a probe means: from how an agent was, and an answer, to how it is."""

import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from ..conf import conf
from ..models import CatalogEntry, Status
from ..search import save_states
from . import history

ERROR_LIMIT = 500
JITTER = 0.1


@dataclass(frozen=True, slots=True)
class Probe:
    """One attempt to reach an agent; `error` is empty when it answered."""

    at: datetime
    latency_ms: int | None = None
    error: str = ""
    # Of one that is heard and not asked: when it was, and how long that holds.
    heard_at: datetime | None = None
    holds_until: datetime | None = None

    @property
    def ok(self) -> bool:
        return not self.error

    def shortened(self) -> "Probe":
        """With as much of its error as is kept."""
        return replace(self, error=self.error[:ERROR_LIMIT])


def spread(seconds: float) -> timedelta:
    """About so long, so that what began together does not stay together."""
    jitter = random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 - no secret
    return timedelta(seconds=seconds * jitter)


@dataclass(frozen=True, slots=True)
class State:
    status: str
    failures: int


def after(probe: Probe, failures: int) -> State:
    """How an agent is once it was probed, whatever it was before."""
    if not probe.ok:
        failures += 1
        gone = failures >= conf.OFFLINE_AFTER
        return State(Status.OFFLINE if gone else Status.DEGRADED, failures)
    slow = (probe.latency_ms or 0) > conf.DEGRADED_ABOVE_MS
    return State(Status.DEGRADED if slow else Status.ACTIVE, 0)


def interval_after(failures: int) -> timedelta:
    """When to ask again: agents that fail are asked ever less often."""
    interval = conf.PROBE_INTERVAL
    doublings = min(max(0, failures - conf.OFFLINE_AFTER + 1), 20)
    longest = max(interval, conf.BACK_OFF_LIMIT)
    return timedelta(seconds=min(interval * 2.0**doublings, longest))


def ask_again_at(failures: int) -> datetime:
    return timezone.now() + spread(interval_after(failures).total_seconds())


def record(entry: CatalogEntry, probe: Probe) -> bool:
    """Write the outcome, unless a person or a later probe was quicker."""
    return record_all([(entry, probe)]) == 1


@transaction.atomic
def record_all(findings: Iterable[tuple[CatalogEntry, Probe]]) -> int:
    """Write down what was found, all together; how many entries moved on by it."""
    by_entry = {entry.pk: probe.shortened() for entry, probe in findings}
    rows = CatalogEntry.objects.watched().select_for_update().filter(pk__in=by_entry)
    # In one order for all: two who write the same ones never wait for each other.
    entries = list(rows.order_by("pk").only("pk", "status_set_at", *WRITTEN))
    probes = {entry.pk: by_entry[entry.pk] for entry in entries}
    history.remember_all(probes)
    before = {entry.pk: entry.status for entry in entries}
    moved = [entry for entry in entries if is_news(entry, probes[entry.pk])]
    for entry in moved:
        apply_probe(entry, probes[entry.pk])
    save_states(moved, WRITTEN, before)
    return len(moved)


def is_news(entry: CatalogEntry, probe: Probe) -> bool:
    """Whether it began after all that is known, by probes and by people."""
    known = (entry.last_probed_at, entry.status_set_at)
    return all(moment is None or moment < probe.at for moment in known)


def apply_probe(entry: CatalogEntry, probe: Probe) -> None:
    """Set the entry to the state that the probe shows; the caller saves it."""
    state = after(probe, entry.consecutive_failures)
    entry.status, entry.consecutive_failures = state.status, state.failures
    entry.last_probed_at, entry.last_error = probe.at, probe.error
    if probe.ok:
        entry.latency_ms = probe.latency_ms
        entry.last_success_at = probe.heard_at or probe.at
    entry.next_probe_at = probe.holds_until or ask_again_at(state.failures)


WRITTEN = [
    "status",
    "consecutive_failures",
    "last_probed_at",
    "last_success_at",
    "last_error",
    "latency_ms",
    "next_probe_at",
]

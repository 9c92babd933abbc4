"""The health state of an entry, and how a probe changes it."""

import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from ..conf import conf
from ..models import CatalogEntry, Source, Status
from ..search import save_states
from . import history
from .uptime import LastOutcome

ERROR_LIMIT = 500
JITTER = 0.1
# The entry columns that a probe changes.
PROBE_FIELDS = [
    "status",
    "consecutive_failures",
    "last_probed_at",
    "last_success_at",
    "last_error",
    "latency_ms",
    "next_probe_at",
    "outcome_counts_until",
    "probe_method",
]


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """The outcome of one probe; `error` is empty when it succeeded."""

    at: datetime
    latency_ms: int | None = None
    error: str = ""
    # For agents that announce themselves: when they did, and how long that counts.
    announced_at: datetime | None = None
    valid_until: datetime | None = None
    # The health request that succeeded, if the protocol has several.
    probe_method: str = ""

    @property
    def ok(self) -> bool:
        return not self.error

    def truncated(self) -> "ProbeOutcome":
        """Return a copy whose error fits the database column."""
        return replace(self, error=self.error[:ERROR_LIMIT])


@dataclass(frozen=True, slots=True)
class HealthState:
    """A status, and the number of failed probes since the last success."""

    status: str
    failure_count: int


def add_jitter(seconds: float) -> timedelta:
    """Return the duration varied by up to 10 %, so that work does not cluster."""
    jitter = random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 - no secret
    return timedelta(seconds=seconds * jitter)


def next_state(outcome: ProbeOutcome, failure_count: int) -> HealthState:
    """Return the state after a probe; `failure_count` is the number before it."""
    if not outcome.ok:
        failure_count += 1
        is_offline = failure_count >= conf.OFFLINE_AFTER
        status = Status.OFFLINE if is_offline else Status.DEGRADED
        return HealthState(status, failure_count)
    is_slow = (outcome.latency_ms or 0) > conf.DEGRADED_ABOVE_MS
    return HealthState(Status.DEGRADED if is_slow else Status.ACTIVE, 0)


def compute_probe_interval(failure_count: int) -> timedelta:
    """Return the time to the next probe; it doubles with each failure while offline."""
    interval = conf.PROBE_INTERVAL
    doublings = min(max(0, failure_count - conf.OFFLINE_AFTER + 1), 20)
    longest = max(interval, conf.BACK_OFF_LIMIT)
    return timedelta(seconds=min(interval * 2.0**doublings, longest))


def compute_next_probe_time(failure_count: int) -> datetime:
    interval = compute_probe_interval(failure_count)
    return timezone.now() + add_jitter(interval.total_seconds())


def compute_overdue_time(next_probe_at: datetime) -> datetime:
    """Return when a probe planned for that time is overdue: no prober is running.

    A prober that stops during the probe delays it by the lease.
    """
    seconds = conf.PROBE_LEASE + conf.PROBE_TIMEOUT
    return next_probe_at + timedelta(seconds=seconds)


def record_probe(entry: CatalogEntry, outcome: ProbeOutcome) -> bool:
    """Save the outcome of a probe; return whether the entry was updated."""
    return record_probes([(entry, outcome)]) == 1


@transaction.atomic
def record_probes(results: Iterable[tuple[CatalogEntry, ProbeOutcome]]) -> int:
    """Save outcomes in one transaction; return how many entries were updated.

    An outcome that is older than the entry's state is only added to the history.
    """
    by_entry = {entry.pk: outcome.truncated() for entry, outcome in results}
    rows = CatalogEntry.objects.monitored().select_for_update().filter(pk__in=by_entry)
    # Always lock in the same order, so that two writers cannot deadlock.
    columns = ("pk", "status_set_at", *PROBE_FIELDS)
    entries = list(rows.order_by("pk").only(*columns))
    outcomes = {entry.pk: by_entry[entry.pk] for entry in entries}
    previous_statuses = {entry.pk: entry.status for entry in entries}
    updated = [entry for entry in entries if is_newer(outcomes[entry.pk], entry)]
    previous = {entry.pk: LastOutcome.of_entry(entry) for entry in updated}
    history.save_probe_results(outcomes, previous)
    for entry in updated:
        apply_probe(entry, outcomes[entry.pk])
    save_states(updated, PROBE_FIELDS, previous_statuses)
    return len(updated)


def activate_declared(entries: Iterable[CatalogEntry]) -> None:
    """Make entries active that are not probed any more; the caller has locked them.

    Their status is from probes of another endpoint or of an earlier version.
    """
    now, previous_statuses = timezone.now(), {}
    outdated = [entry for entry in entries if has_outdated_status(entry)]
    for entry in outdated:
        previous_statuses[entry.pk] = entry.status
        history.close_last_outcome(entry, now)
        entry.status, entry.last_error = Status.ACTIVE, ""
        entry.consecutive_failures, entry.next_probe_at = 0, None
    save_states(outdated, PROBE_FIELDS, previous_statuses)


def has_outdated_status(entry: CatalogEntry) -> bool:
    """Return whether a declared agent has a status other than active."""
    is_fixed = entry.status == Status.DEPRECATED or entry.source == Source.DEMO
    return entry.declared and not is_fixed and entry.status != Status.ACTIVE


def is_newer(outcome: ProbeOutcome, entry: CatalogEntry) -> bool:
    """Return whether the probe began after the last probe and manual change."""
    last_changes = (entry.last_probed_at, entry.status_set_at)
    return all(moment is None or moment < outcome.at for moment in last_changes)


def apply_probe(entry: CatalogEntry, outcome: ProbeOutcome) -> None:
    """Set the entry's health fields from a probe; the caller saves the entry."""
    state = next_state(outcome, entry.consecutive_failures)
    entry.status, entry.consecutive_failures = state.status, state.failure_count
    entry.last_probed_at, entry.last_error = outcome.at, outcome.error
    # Empty after a failure: the agent may have changed.
    entry.probe_method = outcome.probe_method
    if outcome.ok:
        entry.latency_ms = outcome.latency_ms
        entry.last_success_at = outcome.announced_at or outcome.at
    entry.next_probe_at = outcome.valid_until or compute_next_probe_time(
        state.failure_count
    )
    entry.outcome_counts_until = outcome.valid_until or compute_overdue_time(
        outcome.at + compute_probe_interval(state.failure_count) * (1 + JITTER)
    )

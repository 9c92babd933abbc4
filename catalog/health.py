"""What a probe means: from how an agent was, and an answer, to how it is."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from . import search
from .models import REACHABLE, CatalogEntry, Source, Status

ERROR_LIMIT = 500
BACK_OFF_LIMIT = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Probe:
    """One attempt to reach an agent; `error` is empty when it answered."""

    at: datetime
    latency_ms: int | None = None
    error: str = ""

    @property
    def ok(self) -> bool:
        return not self.error


@dataclass(frozen=True, slots=True)
class State:
    status: str
    failures: int


def after(probe: Probe, failures: int) -> State:
    """How an agent is once it was probed, whatever it was before."""
    if not probe.ok:
        failures += 1
        gone = failures >= settings.AGENTLENS_OFFLINE_AFTER
        return State(Status.OFFLINE if gone else Status.DEGRADED, failures)
    slow = (probe.latency_ms or 0) > settings.AGENTLENS_DEGRADED_ABOVE_MS
    return State(Status.DEGRADED if slow else Status.ACTIVE, 0)


def interval_after(failures: int) -> timedelta:
    """When to ask again: agents that fail are asked ever less often, up to an hour."""
    interval = timedelta(seconds=settings.AGENTLENS_PROBE_INTERVAL)
    doublings = min(max(0, failures - settings.AGENTLENS_OFFLINE_AFTER + 1), 12)
    return min(interval * float(2**doublings), max(interval, BACK_OFF_LIMIT))


@transaction.atomic
def record(entry: CatalogEntry, probe: Probe, jitter: float = 1.0) -> bool:
    """Write the outcome, unless a person or a later probe was quicker."""
    current = CatalogEntry.objects.select_for_update().filter(pk=entry.pk)
    current = current.exclude(status=Status.DEPRECATED).exclude(source=Source.DEMO)
    newest = Q(last_probed_at__isnull=True) | Q(last_probed_at__lt=probe.at)
    found = current.filter(newest).first()
    if found is None:
        return False
    before = found.status
    state = after(probe, found.consecutive_failures)
    found.status, found.consecutive_failures = state.status, state.failures
    found.last_probed_at = probe.at
    found.last_error = probe.error[:ERROR_LIMIT]
    if probe.ok:
        found.latency_ms, found.last_success_at = probe.latency_ms, probe.at
    found.next_probe_at = timezone.now() + interval_after(state.failures) * jitter
    found.save(update_fields=WRITTEN)
    if (before in REACHABLE) != (found.status in REACHABLE):
        search.index(CatalogEntry.objects.filter(pk=found.pk))
    return True


WRITTEN = [
    "status",
    "consecutive_failures",
    "last_probed_at",
    "last_success_at",
    "last_error",
    "latency_ms",
    "next_probe_at",
]

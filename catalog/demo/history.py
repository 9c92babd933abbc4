"""An invented past: probes that could have led to how a demo agent is."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby
from random import Random

from ..health import PROBE_RETENTION, start_of_hour
from ..models import CatalogEntry, HealthHour, ProbeResult

PAST = timedelta(days=7)
# So seldom does an invented agent fail for no reason.
MISHAP = 0.004


def create_history(entry: CatalogEntry) -> None:
    """Anew at each loading, so that it always ends now."""
    entry.probe_results.all().delete()
    entry.health_hours.all().delete()
    if entry.last_probed_at is None:
        return
    probes = list(invented(entry, entry.last_probed_at))
    since = entry.last_probed_at - PROBE_RETENTION
    ProbeResult.objects.bulk_create(probe for probe in probes if probe.at > since)
    by_hour = groupby(probes, lambda probe: start_of_hour(probe.at))
    HealthHour.objects.bulk_create(
        counted(entry, hour, list(group)) for hour, group in by_hour
    )


def invented(entry: CatalogEntry, now: datetime) -> Iterator[ProbeResult]:
    """A probe an hour, and two of them lately; the oldest first.

    After its last success there are as many failures as the story tells of.
    """
    whims = Random(entry.agent_key)  # noqa: S311 - no secret
    failures = entry.consecutive_failures
    end = (entry.last_success_at or now - PAST) if failures else now
    at = now - PAST
    while at < end:
        mishap = whims.random() < MISHAP
        yield answered(entry, at, whims, "HTTP 503" if mishap else "")
        at += timedelta(minutes=30 if now - at <= PROBE_RETENTION else 60)
    yield from (
        answered(entry, end + (now - end) * n / failures, whims, entry.last_error)
        for n in range(1, failures + 1)
    )


def answered(
    entry: CatalogEntry, at: datetime, whims: Random, error: str
) -> ProbeResult:
    usual = entry.latency_ms
    # Who is heard, and not asked, has none.
    latency = usual and round(usual * whims.uniform(0.8, 1.3))
    told = {"latency_ms": None if error else latency, "error": error}
    return ProbeResult(entry=entry, at=at, **told)


def counted(
    entry: CatalogEntry, hour: datetime, probes: list[ProbeResult]
) -> HealthHour:
    return HealthHour(
        entry=entry,
        hour=hour,
        probes=len(probes),
        failures=sum(not probe.ok for probe in probes),
        latency_total_ms=sum(probe.latency_ms or 0 for probe in probes),
    )

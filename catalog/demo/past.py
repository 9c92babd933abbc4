"""An invented past: probes that could have led to how a demo agent is."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby
from random import Random

from ..history import KEEP_PROBES, hour_of
from ..models import CatalogEntry, HealthHour, ProbeResult

PAST = timedelta(days=7)
# So seldom does an invented agent fail for no reason.
MISHAP = 0.004


def invent_past(entry: CatalogEntry) -> None:
    """Anew at each loading, so that it always ends now."""
    entry.probe_results.all().delete()
    entry.health_hours.all().delete()
    if entry.last_probed_at is None:
        return
    probes = list(invented(entry, entry.last_probed_at))
    since = entry.last_probed_at - KEEP_PROBES
    ProbeResult.objects.bulk_create(probe for probe in probes if probe.at > since)
    by_hour = groupby(probes, lambda probe: hour_of(probe.at))
    HealthHour.objects.bulk_create(
        counted(entry, hour, list(group)) for hour, group in by_hour
    )


def invented(entry: CatalogEntry, now: datetime) -> Iterator[ProbeResult]:
    """A probe an hour, and two of them lately; the oldest first."""
    whims = Random(entry.agent_key)  # noqa: S311 - no secret
    at = now - PAST
    while at <= now:
        gone = entry.consecutive_failures and at > (entry.last_success_at or at - PAST)
        mishap = whims.random() < MISHAP and at < now
        usual = entry.latency_ms
        # Who is heard, and not asked, has none.
        latency = usual and round(usual * whims.uniform(0.8, 1.3))
        yield ProbeResult(
            entry=entry,
            at=at,
            latency_ms=None if gone or mishap else latency,
            error=(entry.last_error or "HTTP 503") if gone or mishap else "",
        )
        at += timedelta(minutes=30 if now - at <= KEEP_PROBES else 60)


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

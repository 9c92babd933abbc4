"""A generated health history that leads to the current health of a demo agent."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random

from ..health import PROBE_RETENTION, LastOutcome, truncate_to_hour
from ..models import CatalogEntry, HealthHour, ProbeResult

HISTORY_LENGTH = timedelta(days=7)
# The probability that a probe fails, other than the latest failures of an agent.
FAILURE_PROBABILITY = 0.004


def create_history(entry: CatalogEntry) -> None:
    """Replace the history of an entry by one that ends now."""
    entry.probe_results.all().delete()
    entry.health_hours.all().delete()
    if entry.last_probed_at is None:
        return
    probes = list(generate_probes(entry, entry.last_probed_at))
    since = entry.last_probed_at - PROBE_RETENTION
    ProbeResult.objects.bulk_create(probe for probe in probes if probe.at > since)
    HealthHour.objects.bulk_create(build_hours(entry, probes))


def generate_probes(entry: CatalogEntry, now: datetime) -> Iterator[ProbeResult]:
    """Yield one probe per hour, and two per hour in the last days, oldest first.

    The last success is followed by as many failures as the entry has.
    """
    # Seeded, so that the history is the same every time.
    random = Random(entry.agent_key)  # noqa: S311 - no secret
    failure_count = entry.consecutive_failures
    end = (entry.last_success_at or now - HISTORY_LENGTH) if failure_count else now
    at = now - HISTORY_LENGTH
    while at < end:
        has_failed = random.random() < FAILURE_PROBABILITY
        yield build_probe(entry, at, random, "HTTP 503" if has_failed else "")
        at += timedelta(minutes=30 if now - at <= PROBE_RETENTION else 60)
    for n in range(1, failure_count + 1):
        at = end + (now - end) * n / failure_count
        yield build_probe(entry, at, random, entry.last_error)


def build_probe(
    entry: CatalogEntry, at: datetime, random: Random, error: str
) -> ProbeResult:
    # Agents that announce themselves have no latency.
    latency = entry.latency_ms and round(entry.latency_ms * random.uniform(0.8, 1.3))
    return ProbeResult(
        entry=entry, at=at, latency_ms=None if error else latency, error=error
    )


def build_hours(entry: CatalogEntry, probes: list[ProbeResult]) -> Iterable[HealthHour]:
    """Return the hours of the probes; each outcome counts until the next."""
    rows: dict[datetime, HealthHour] = {}

    def get_row(hour: datetime) -> HealthHour:
        return rows.setdefault(hour, HealthHour.build_empty(entry=entry, hour=hour))

    for probe in probes:
        get_row(truncate_to_hour(probe.at)).add_probe(probe.latency_ms, probe.error)
    for probe, following in pairwise(probes):
        outcome = LastOutcome(probe.at, following.at, probe.error)
        for hour, time in outcome.time_by_hour(following.at).items():
            get_row(hour).add_time(time)
    return rows.values()

"""Health history: every probe of the last two days, and hourly counts for 90 days."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from math import ceil
from statistics import fmean
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.timesince import timesince

from ..models import CatalogEntry, HealthHour, ProbeResult, UptimeMixin

PROBE_RETENTION = timedelta(hours=48)
HOUR_RETENTION = timedelta(days=90)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
PERIODS = {"24h": DAY, "7d": timedelta(days=7), "90d": HOUR_RETENTION}
# Rows deleted per statement, so that no statement locks the table for long.
DELETE_BATCH = 5000


class SavedOutcome(Protocol):
    """The fields of a probe outcome that are kept in the history."""

    @property
    def at(self) -> datetime: ...

    @property
    def latency_ms(self) -> int | None: ...

    @property
    def error(self) -> str: ...


def save_probe_results(outcomes: Mapping[UUID, SavedOutcome]) -> None:
    """Save one outcome per entry ID; the caller has locked the entries.

    Without the lock, concurrent writers could lose hourly counts.
    """
    ProbeResult.objects.bulk_create(
        ProbeResult(
            entry_id=pk,
            at=outcome.at,
            latency_ms=outcome.latency_ms,
            error=outcome.error,
        )
        for pk, outcome in outcomes.items()
    )
    by_hour = {
        (pk, truncate_to_hour(outcome.at)): outcome for pk, outcome in outcomes.items()
    }
    HealthHour.objects.add_probes("entry_id", by_hour)


def truncate_to_hour(moment: datetime) -> datetime:
    """Return the start of the hour."""
    return moment.replace(minute=0, second=0, microsecond=0)


def prune_history(now: datetime | None = None) -> int:
    """Delete rows older than the retention times; return how many were deleted."""
    now = now or timezone.now()
    old_probes = ProbeResult.objects.filter(at__lt=now - PROBE_RETENTION)
    old_hours = HealthHour.objects.filter(
        hour__lt=truncate_to_hour(now - HOUR_RETENTION)
    )
    return delete_in_batches(old_probes) + delete_in_batches(old_hours)


def delete_in_batches(rows: QuerySet[Any]) -> int:
    """Delete the rows in small batches; return how many were deleted."""
    rows = rows.order_by()
    manager = rows.model._default_manager
    deleted = 0
    while ids := list(rows.values_list("pk", flat=True)[:DELETE_BATCH]):
        deleted += manager.filter(pk__in=ids).delete()[0]
    return deleted


def compute_percentile(ordered: list[int], share: float) -> int | None:
    """Return the nearest-rank percentile of sorted values; None for an empty list."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else None


@dataclass(frozen=True, slots=True)
class Day:
    """The uptime of one day; None when the agent was not probed."""

    date: date
    uptime: float | None


class ProbeSample(NamedTuple):
    """A saved probe; a tuple, because building thousands of model instances is slow."""

    at: datetime
    latency_ms: int | None
    error: str

    @property
    def ok(self) -> bool:
        return not self.error


@dataclass(frozen=True, slots=True)
class HourSample(UptimeMixin):
    """A saved hour; not a model instance, because building many of them is slow."""

    hour: datetime
    probes: int
    failures: int
    latency_total_ms: int


HOUR_COLUMNS = ("hour", "probes", "failures", "latency_total_ms")


@dataclass(frozen=True)
class History:
    """The health history of one entry: newest probe first, oldest hour first."""

    now: datetime
    probes: list[ProbeSample]
    hours: list[HourSample]

    @classmethod
    def for_entry(cls, entry: CatalogEntry, now: datetime | None = None) -> "History":
        now = now or timezone.now()
        probes = entry.probe_results.filter(at__gt=now - DAY)
        hours = entry.health_hours.filter(
            hour__gte=truncate_to_hour(now - HOUR_RETENTION)
        )
        return cls(
            now,
            [ProbeSample(*row) for row in probes.values_list(*ProbeSample._fields)],
            [HourSample(**row) for row in hours.values(*HOUR_COLUMNS)],
        )

    @property
    def uptime(self) -> dict[str, float | None]:
        return {
            name: compute_weighted_uptime(self.hours, self.now - period, self.now)
            for name, period in PERIODS.items()
        }

    @property
    def last_week(self) -> list[HourSample]:
        since = truncate_to_hour(self.now - PERIODS["7d"])
        return [hour for hour in self.hours if hour.hour > since]

    @property
    def latencies(self) -> list[int]:
        """The latencies of the last day in milliseconds, in ascending order."""
        return sorted(p.latency_ms for p in self.probes if p.latency_ms is not None)

    @property
    def p50(self) -> int | None:
        return compute_percentile(self.latencies, 0.50)

    @property
    def p95(self) -> int | None:
        return compute_percentile(self.latencies, 0.95)

    @property
    def failure_count(self) -> int:
        return sum(not probe.ok for probe in self.probes)

    @property
    def last_failure(self) -> ProbeSample | None:
        return next((probe for probe in self.probes if not probe.ok), None)

    @cached_property
    def days(self) -> list[Day]:
        """The last 90 days up to today, the oldest first."""
        by_day: dict[date, list[HourSample]] = defaultdict(list)
        for hour in self.hours:
            by_day[hour.hour.date()].append(hour)
        first = self.now.date() - timedelta(days=HOUR_RETENTION.days - 1)
        dates = [first + timedelta(days=n) for n in range(HOUR_RETENTION.days)]
        since = self.now - HOUR_RETENTION
        return [
            Day(date, compute_weighted_uptime(by_day[date], since, self.now))
            for date in dates
        ]


def compute_uptimes(entry_ids: Iterable[UUID], period: timedelta) -> dict[UUID, float]:
    """Return the uptime of each entry in the period, without unprobed entries."""
    now = timezone.now()
    since = now - period
    by_entry: dict[UUID, list[HourSample]] = defaultdict(list)
    hours_in_period = HealthHour.objects.filter(
        hour__gte=truncate_to_hour(since), entry__in=entry_ids
    )
    for row in hours_in_period.values("entry_id", *HOUR_COLUMNS):
        by_entry[row.pop("entry_id")].append(HourSample(**row))
    uptimes = {
        pk: compute_weighted_uptime(hours, since, now) for pk, hours in by_entry.items()
    }
    return {pk: uptime for pk, uptime in uptimes.items() if uptime is not None}


def compute_weighted_uptime(
    hours: Iterable[HourSample], since: datetime, now: datetime
) -> float | None:
    """Return the mean uptime of the hours between `since` and `now`.

    Every hour has the same weight, because failing agents are probed less often. The
    first and the last hour count only for the part that lies in the period.
    """
    first = truncate_to_hour(since)
    hours = [hour for hour in hours if hour.hour >= first]
    parts = (min(hour.hour + HOUR, now) - max(hour.hour, since) for hour in hours)
    weights = [max(MINUTE, part) / HOUR for part in parts]
    return fmean((hour.uptime for hour in hours), weights) if hours else None


def format_time_ago(moment: datetime) -> str:
    duration = timesince(moment, depth=1)
    return "just now" if duration.startswith("0") else f"{duration} ago"


def format_percent(share: float | None) -> str:
    """Return the share as text; only exactly 1 and 0 are shown as 100 % and 0 %."""
    if share is None:
        return "not probed"
    rounded = round(share * 100, 1)
    if share not in (0, 1):
        rounded = min(99.9, max(0.1, rounded))
    return f"{rounded:g} %"

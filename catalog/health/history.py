"""Health history: all probes of two days; hourly counts and uptime of 90 days."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from math import ceil
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.timesince import timesince

from ..models import CatalogEntry, HealthHour, ProbeCountMixin, ProbeResult
from .uptime import DAY, HOUR, KnownTime, LastOutcome, truncate_to_hour

PROBE_RETENTION = timedelta(hours=48)
HOUR_RETENTION = timedelta(days=90)
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


def save_probe_results(
    outcomes: Mapping[UUID, SavedOutcome], previous: Mapping[UUID, LastOutcome]
) -> None:
    """Save one outcome per entry ID; the caller has locked the entries.

    `previous` are the outcomes that they replace as the latest: each counts until its
    successor. Without the lock, concurrent writers could lose hourly totals.
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
    times = {
        (pk, hour): time
        for pk, last_outcome in previous.items()
        for hour, time in last_outcome.time_by_hour(outcomes[pk].at).items()
    }
    HealthHour.objects.add_history(by_hour, times)


def close_last_outcome(entry: CatalogEntry, now: datetime) -> None:
    """Count the latest outcome until now and no longer; the caller saves the entry.

    The time until the next probe is then unknown. The caller has locked the entry.
    """
    times = LastOutcome.of_entry(entry).time_by_hour(now)
    if times:
        by_key = {(entry.pk, hour): time for hour, time in times.items()}
        HealthHour.objects.add_history({}, by_key)
    entry.outcome_counts_until = None


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
    """The uptime of one day; None when nothing is known about it."""

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
class HourSample(ProbeCountMixin):
    """A saved hour; not a model instance, because building many of them is slow."""

    hour: datetime
    probes: int = 0
    failures: int = 0
    latency_total_ms: int = 0
    up_seconds: float | None = 0.0
    down_seconds: float | None = 0.0

    def time_between(self, since: datetime, now: datetime) -> KnownTime:
        """Return the known time after `since`, as if it were spread evenly."""
        if self.up_seconds is None or self.down_seconds is None:
            return self.estimate_time(since, now)
        share = (self.hour + HOUR - max(self.hour, since)) / HOUR
        return KnownTime(self.up_seconds, self.down_seconds).scale(share)

    def estimate_time(self, since: datetime, now: datetime) -> KnownTime:
        """Return the time of an hour of which only the probes were counted."""
        part = min(self.hour + HOUR, now) - max(self.hour, since)
        seconds = max(0.0, part.total_seconds())
        return KnownTime(self.success_rate, 1 - self.success_rate).scale(seconds)

    def add_time(self, time: KnownTime) -> "HourSample":
        if self.up_seconds is None or self.down_seconds is None:
            return self
        return replace(
            self,
            up_seconds=self.up_seconds + time.up,
            down_seconds=self.down_seconds + time.down,
        )


HOUR_COLUMNS = (
    "hour",
    "probes",
    "failures",
    "latency_total_ms",
    "up_seconds",
    "down_seconds",
)


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
            add_last_outcome(
                (HourSample(**row) for row in hours.values(*HOUR_COLUMNS)), entry, now
            ),
        )

    @cached_property
    def known_times(self) -> dict[str, KnownTime]:
        """The time of each period for which the state of the agent is known."""
        return {
            name: sum_known_time(self.hours, self.now - period, self.now)
            for name, period in PERIODS.items()
        }

    @property
    def uptime(self) -> dict[str, float | None]:
        return {name: time.uptime for name, time in self.known_times.items()}

    @property
    def monitored(self) -> dict[str, float]:
        """The share of each period for which the state of the agent is known."""
        return {
            name: min(1.0, time.total / PERIODS[name].total_seconds())
            for name, time in self.known_times.items()
        }

    @property
    def last_week(self) -> list[HourSample]:
        """The hours of the last week that had probes."""
        since = truncate_to_hour(self.now - PERIODS["7d"])
        return [hour for hour in self.hours if hour.hour > since and hour.probes]

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
            Day(date, sum_known_time(by_day[date], since, self.now).uptime)
            for date in dates
        ]


def add_last_outcome(
    hours: Iterable[HourSample], entry: CatalogEntry, now: datetime
) -> list[HourSample]:
    """Return the hours, oldest first, with the time since the entry's last probe."""
    by_hour = {sample.hour: sample for sample in hours}
    for hour, time in LastOutcome.of_entry(entry).time_by_hour(now).items():
        by_hour[hour] = by_hour.get(hour, HourSample(hour)).add_time(time)
    return [by_hour[hour] for hour in sorted(by_hour)]


def compute_uptimes(
    entries: Collection[CatalogEntry], period: timedelta
) -> dict[UUID, float]:
    """Return the uptime of each entry in the period, where anything is known of it."""
    now = timezone.now()
    since = now - period
    by_entry: dict[UUID, list[HourSample]] = {entry.pk: [] for entry in entries}
    hours_in_period = HealthHour.objects.filter(
        hour__gte=truncate_to_hour(since), entry__in=by_entry
    )
    for row in hours_in_period.values("entry_id", *HOUR_COLUMNS):
        by_entry[row.pop("entry_id")].append(HourSample(**row))
    uptimes = {}
    for entry in entries:
        hours = add_last_outcome(by_entry[entry.pk], entry, now)
        uptimes[entry.pk] = sum_known_time(hours, since, now).uptime
    return {pk: uptime for pk, uptime in uptimes.items() if uptime is not None}


def sum_known_time(
    hours: Iterable[HourSample], since: datetime, now: datetime
) -> KnownTime:
    """Return the known time of the hours between `since` and `now`.

    The first hour counts in proportion to its part of the period.
    """
    first = truncate_to_hour(since)
    times = (hour.time_between(since, now) for hour in hours if hour.hour >= first)
    return sum(times, start=KnownTime())


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

"""How agents have been: every probe for two days, and each hour for ninety."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from math import ceil
from statistics import fmean
from typing import NamedTuple, Protocol
from uuid import UUID

from django.utils import timezone

from ..models import CatalogEntry, Counted, HealthHour, ProbeResult

KEEP_PROBES = timedelta(hours=48)
KEEP_HOURS = timedelta(days=90)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
WINDOWS = {"24h": DAY, "7d": timedelta(days=7), "90d": KEEP_HOURS}
# As many as are deleted in one go, so that nobody waits long for the table.
SWEEP = 5000


class Probed(Protocol):
    """What is worth remembering of a probe."""

    @property
    def at(self) -> datetime: ...

    @property
    def latency_ms(self) -> int | None: ...

    @property
    def error(self) -> str: ...


def remember_all(probes: Mapping[UUID, Probed]) -> None:
    """Write down one probe each; the caller holds the entries, so none is lost."""
    ProbeResult.objects.bulk_create(
        ProbeResult(
            entry_id=pk, at=probe.at, latency_ms=probe.latency_ms, error=probe.error
        )
        for pk, probe in probes.items()
    )
    hours = {(pk, hour_of(probe.at)): probe for pk, probe in probes.items()}
    HealthHour.objects.count_probes("entry_id", hours)


def hour_of(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def prune_history(now: datetime | None = None) -> int:
    """Forget what is older than promised; how many rows that was."""
    now = now or timezone.now()
    probes = ProbeResult.objects.filter(at__lt=now - KEEP_PROBES)
    hours = HealthHour.objects.filter(hour__lt=hour_of(now - KEEP_HOURS))
    return sum(swept(rows.order_by()) for rows in (probes, hours))


def swept(rows) -> int:  # type: ignore[no-untyped-def]
    gone = 0
    while some := list(rows.values_list("pk", flat=True)[:SWEEP]):
        gone += rows.model.objects.filter(pk__in=some).delete()[0]
    return gone


def percentile(ordered: list[int], share: float) -> int | None:
    """The value that this share of the others does not exceed."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else None


@dataclass(frozen=True, slots=True)
class Day:
    """One day of the ninety; without an uptime when nobody asked."""

    date: date
    uptime: float | None


class Remembered(NamedTuple):
    """A probe as it is read: there are many, and models take their time."""

    at: datetime
    latency_ms: int | None
    error: str

    @property
    def ok(self) -> bool:
        return not self.error


@dataclass(frozen=True, slots=True)
class Hour(Counted):
    """The same of an hour's counts."""

    hour: datetime
    probes: int
    failures: int
    latency_total_ms: int


COUNTS = ("hour", "probes", "failures", "latency_total_ms")


@dataclass(frozen=True)
class History:
    """What is remembered of one entry, the newest probes first."""

    now: datetime
    probes: list[Remembered]
    hours: list[Hour]

    @classmethod
    def of(cls, entry: CatalogEntry, now: datetime | None = None) -> "History":
        now = now or timezone.now()
        probes = entry.probe_results.filter(at__gt=now - DAY)
        hours = entry.health_hours.filter(hour__gte=hour_of(now - KEEP_HOURS))
        return cls(
            now,
            [Remembered(*row) for row in probes.values_list(*Remembered._fields)],
            [Hour(*row) for row in hours.values_list(*COUNTS)],
        )

    @property
    def uptime(self) -> dict[str, float | None]:
        return {name: self.uptime_over(window) for name, window in WINDOWS.items()}

    def uptime_over(self, window: timedelta) -> float | None:
        return uptime_of(self.hours, self.now - window, self.now)

    @property
    def last_week(self) -> list[Hour]:
        since = hour_of(self.now - WINDOWS["7d"])
        return [hour for hour in self.hours if hour.hour > since]

    @property
    def latencies(self) -> list[int]:
        """Of the last day's answers, the quickest first."""
        return sorted(p.latency_ms for p in self.probes if p.latency_ms is not None)

    @property
    def p50(self) -> int | None:
        return percentile(self.latencies, 0.50)

    @property
    def p95(self) -> int | None:
        return percentile(self.latencies, 0.95)

    @property
    def failed(self) -> int:
        return sum(not probe.ok for probe in self.probes)

    @property
    def last_failure(self) -> Remembered | None:
        return next((probe for probe in self.probes if not probe.ok), None)

    @cached_property
    def days(self) -> list[Day]:
        """Ninety of them, up to today."""
        by_day: dict[date, list[Hour]] = defaultdict(list)
        for hour in self.hours:
            by_day[hour.hour.date()].append(hour)
        first = self.now.date() - timedelta(days=KEEP_HOURS.days - 1)
        dates = [first + timedelta(days=n) for n in range(KEEP_HOURS.days)]
        since = self.now - KEEP_HOURS
        return [Day(date, uptime_of(by_day[date], since, self.now)) for date in dates]


def uptimes(entries: Iterable[UUID], window: timedelta) -> dict[UUID, float]:
    """Of those of these entries that were probed in the time, up to now."""
    now = timezone.now()
    since = now - window
    by_entry: dict[UUID, list[Hour]] = defaultdict(list)
    lately = HealthHour.objects.filter(hour__gte=hour_of(since), entry__in=entries)
    for pk, *counts in lately.values_list("entry_id", *COUNTS):
        by_entry[pk].append(Hour(*counts))
    shares = {pk: uptime_of(hours, since, now) for pk, hours in by_entry.items()}
    return {pk: share for pk, share in shares.items() if share is not None}


def uptime_of(hours: Iterable[Hour], since: datetime, now: datetime) -> float | None:
    """Each hour counts the same, for agents that fail are asked less often.

    The first and the last only as far as they lie in that time.
    """
    first = hour_of(since)
    known = [hour for hour in hours if hour.hour >= first]
    parts = (min(hour.hour + HOUR, now) - max(hour.hour, since) for hour in known)
    weights = [max(MINUTE, part) / HOUR for part in parts]
    return fmean((hour.uptime for hour in known), weights) if known else None


def percent(share: float | None) -> str:
    """Never rounded up to all, nor down to nothing."""
    if share is None:
        return "not probed"
    rounded = round(share * 100, 1)
    if share not in (0, 1):
        rounded = min(99.9, max(0.1, rounded))
    return f"{rounded:g} %"

"""Uptime, weighted by time: each outcome counts until the next one.

An outcome counts at most until the next probe is overdue. The time after that, for
example while no prober runs, is unknown: neither up nor down.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, Self

from ..models import CatalogEntry

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True, slots=True)
class KnownTime:
    """The seconds for which an agent was known to be up, and to be down."""

    up: float = 0.0
    down: float = 0.0

    def __add__(self, other: "KnownTime") -> "KnownTime":
        return KnownTime(self.up + other.up, self.down + other.down)

    def scale(self, share: float) -> "KnownTime":
        return KnownTime(self.up * share, self.down * share)

    @property
    def total(self) -> float:
        return self.up + self.down

    @property
    def uptime(self) -> float | None:
        """The share of the known time in which the agent was up; None without any."""
        return self.up / self.total if self.total else None


class LastOutcome(NamedTuple):
    """The latest outcome of an agent's probes, and until when it counts at most."""

    at: datetime | None
    counts_until: datetime | None
    error: str

    @classmethod
    def of_entry(cls, entry: CatalogEntry) -> Self:
        return cls(entry.last_probed_at, entry.outcome_counts_until, entry.last_error)

    def time_by_hour(self, until: datetime) -> dict[datetime, KnownTime]:
        """Return the time for which the outcome counts until then, by hour."""
        if self.at is None or self.counts_until is None:
            return {}
        end = min(until, self.counts_until)
        return {
            hour: self.build_time(seconds)
            for hour, seconds in split_by_hour(self.at, end)
        }

    def time_between(self, since: datetime, until: datetime) -> KnownTime:
        """Return the time for which the outcome counts between two moments."""
        if self.at is None or self.counts_until is None:
            return KnownTime()
        part = min(until, self.counts_until) - max(since, self.at)
        return self.build_time(max(0.0, part.total_seconds()))

    def build_time(self, seconds: float) -> KnownTime:
        return KnownTime(down=seconds) if self.error else KnownTime(up=seconds)


def truncate_to_hour(moment: datetime) -> datetime:
    """Return the start of the hour."""
    return moment.replace(minute=0, second=0, microsecond=0)


def split_by_hour(start: datetime, end: datetime) -> Iterator[tuple[datetime, float]]:
    """Yield each hour between two moments, with the seconds that lie between them."""
    while start < end:
        hour = truncate_to_hour(start)
        next_start = min(hour + HOUR, end)
        yield hour, (next_start - start).total_seconds()
        start = next_start

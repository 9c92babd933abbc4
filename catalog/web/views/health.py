"""How an agent has been, drawn: a line of latencies and a bar of days."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from ...health import DAY, Day, History, Remembered, percent

WIDTH, HEIGHT = 720, 120
SLOTS = 96
# Over so many spans without a probe the line still goes on.
BRIDGE = 4
# Less than this share of a day, and the day was not a good one; or a bad one.
GOOD, FAIR = 0.995, 0.95


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    look: str
    told: str


@dataclass(frozen=True)
class HealthPanel:
    """What the page shows of a history; coordinates are of a WIDTH x HEIGHT plot."""

    history: History

    @cached_property
    def slots(self) -> list[list[Remembered]]:
        """The probes of the last day in equal spans of time, the oldest first."""
        slots: list[list[Remembered]] = [[] for _ in range(SLOTS)]
        for probe in self.history.probes:
            age = (self.history.now - probe.at) / DAY
            slots[min(SLOTS - 1, max(0, int((1 - age) * SLOTS)))].append(probe)
        return slots

    @cached_property
    def means(self) -> list[float | None]:
        """The latency of each span, on average; None where nothing was answered."""
        answered = (
            [p.latency_ms for p in slot if p.latency_ms is not None]
            for slot in self.slots
        )
        return [fmean(latencies) if latencies else None for latencies in answered]

    @cached_property
    def ceiling_ms(self) -> int:
        """A round number above every mean."""
        highest = max((mean for mean in self.means if mean is not None), default=0)
        steps = (50, 100, 200, 500, 1000, 2000, 5000)
        return next((step for step in steps if highest <= step), 10_000)

    @property
    def lines(self) -> Iterator[str]:
        """Points for polylines, a new one after each failure and each long gap."""
        run: list[str] = []
        last = 0
        for n, (slot, mean) in enumerate(zip(self.slots, self.means, strict=True)):
            silent = bool(slot) and mean is None
            if run and (silent or n - last > BRIDGE):
                yield drawn(run)
                run = []
            if mean is not None:
                run.append(f"{x_of(n):g},{self.y_of(mean):g}")
                last = n
        if run:
            yield drawn(run)

    def y_of(self, latency_ms: float) -> float:
        return round(HEIGHT * (1 - min(1.0, latency_ms / self.ceiling_ms)), 1)

    @property
    def failures(self) -> Iterator[float]:
        """Where along the day probes failed."""
        for n, slot in enumerate(self.slots):
            if any(not probe.ok for probe in slot):
                yield x_of(n)

    @property
    def uptime(self) -> list[tuple[str, str]]:
        words = {"24h": "24 hours", "7d": "7 days", "90d": "90 days"}
        shares = self.history.uptime
        return [(words[name], percent(shares[name])) for name in words]

    @property
    def bars(self) -> list[Bar]:
        return [
            Bar(n * 8, look_of(day), f"{day.date}: {percent(day.uptime)}")
            for n, day in enumerate(self.history.days)
        ]

    @property
    def has_latency_plot(self) -> bool:
        """Also when nobody answered; not of one that is heard and never timed."""
        history = self.history
        answered = len(history.probes) - history.failed
        return bool(history.latencies) or bool(history.probes and not answered)

    @property
    def days_told(self) -> str:
        """What the bars show, for those who do not see them."""
        shares = {day.date: day.uptime for day in self.history.days}
        known = {date: share for date, share in shares.items() if share is not None}
        whole = sum(share == 1 for share in known.values())
        words = f"{len(known)} of the last 90 probed, {whole} without a failure."
        if whole == len(known):
            return words
        worst = min(known, key=known.__getitem__)
        return f"{words} The worst was {worst}: {percent(known[worst])}."


def drawn(points: list[str]) -> str:
    """A lone point is drawn as a dot."""
    return " ".join(points if len(points) > 1 else points * 2)


def x_of(slot: int) -> float:
    return (slot + 0.5) * WIDTH / SLOTS


def look_of(day: Day) -> str:
    if day.uptime is None:
        return "none"
    if day.uptime >= GOOD:
        return "good"
    return "fair" if day.uptime >= FAIR else "poor"

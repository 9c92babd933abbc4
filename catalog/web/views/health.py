"""Charts of an agent's health: latency in the last day and uptime per day."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from ...health import DAY, Day, History, ProbeSample, format_percent

PLOT_WIDTH, PLOT_HEIGHT = 720, 120
UPTIME_BAR_STEP = 8
TIME_SLOT_COUNT = 96
# The latency line is interrupted after this many time slots without a probe.
MAX_GAP = 4
# Minimum uptime of a day that counts as good or fair.
GOOD_UPTIME, FAIR_UPTIME = 0.995, 0.95
PERIOD_LABELS = {"24h": "24 hours", "7d": "7 days", "90d": "90 days"}


@dataclass(frozen=True, slots=True)
class UptimeBar:
    x: float
    level: str
    label: str


@dataclass(frozen=True)
class HealthPanel:
    """Display values for a health history, with coordinates for the latency plot."""

    history: History

    @cached_property
    def time_slots(self) -> list[list[ProbeSample]]:
        """Probes of the last day in equal time slots, oldest first."""
        time_slots: list[list[ProbeSample]] = [[] for _ in range(TIME_SLOT_COUNT)]
        for probe in self.history.probes:
            age = (self.history.now - probe.at) / DAY
            index = int((1 - age) * TIME_SLOT_COUNT)
            time_slots[min(TIME_SLOT_COUNT - 1, max(0, index))].append(probe)
        return time_slots

    @cached_property
    def mean_latencies(self) -> list[float | None]:
        """The mean latency of each time slot, or None without a response."""
        latencies = (
            [probe.latency_ms for probe in probes if probe.latency_ms is not None]
            for probes in self.time_slots
        )
        return [fmean(values) if values else None for values in latencies]

    @cached_property
    def max_latency_ms(self) -> int:
        """The top of the latency scale: a round number, at most 10 seconds."""
        means = (mean for mean in self.mean_latencies if mean is not None)
        highest = max(means, default=0)
        steps = (50, 100, 200, 500, 1000, 2000, 5000)
        return next((step for step in steps if highest <= step), 10_000)

    @property
    def latency_lines(self) -> Iterator[str]:
        """Points of polylines, split at long gaps and where all probes failed."""
        points: list[str] = []
        last = 0
        for n, (probes, mean) in enumerate(
            zip(self.time_slots, self.mean_latencies, strict=True)
        ):
            has_only_failures = bool(probes) and mean is None
            if points and (has_only_failures or n - last > MAX_GAP):
                yield join_points(points)
                points = []
            if mean is not None:
                points.append(f"{compute_x(n):g},{self.compute_y(mean):g}")
                last = n
        if points:
            yield join_points(points)

    def compute_y(self, latency_ms: float) -> float:
        share = min(1.0, latency_ms / self.max_latency_ms)
        return round(PLOT_HEIGHT * (1 - share), 1)

    @property
    def failure_positions(self) -> Iterator[float]:
        """Horizontal positions of the time slots with a failed probe."""
        for n, probes in enumerate(self.time_slots):
            if any(not probe.ok for probe in probes):
                yield compute_x(n)

    @property
    def uptimes(self) -> list[tuple[str, str]]:
        """Label and formatted uptime of each period."""
        uptime = self.history.uptime
        return [
            (label, format_percent(uptime[name]))
            for name, label in PERIOD_LABELS.items()
        ]

    @property
    def uptime_bars(self) -> list[UptimeBar]:
        return [
            UptimeBar(
                n * UPTIME_BAR_STEP,
                get_uptime_level(day),
                f"{day.date}: {format_percent(day.uptime)}",
            )
            for n, day in enumerate(self.history.days)
        ]

    @property
    def has_latency_plot(self) -> bool:
        """Whether there are latencies to plot, or only failures.

        Agents whose presence is observed rather than probed have no latency.
        """
        history = self.history
        has_only_failures = history.failure_count == len(history.probes) > 0
        return bool(history.latencies) or has_only_failures

    @property
    def uptime_summary(self) -> str:
        """A text alternative to the uptime bars."""
        probed = {
            day.date: day.uptime for day in self.history.days if day.uptime is not None
        }
        perfect = sum(uptime == 1 for uptime in probed.values())
        summary = (
            f"{len(probed)} of the last 90 days probed, {perfect} without failures."
        )
        if perfect == len(probed):
            return summary
        worst = min(probed, key=probed.__getitem__)
        return f"{summary} Lowest on {worst}: {format_percent(probed[worst])}."


def join_points(points: list[str]) -> str:
    """Join points for a polyline; a single point is repeated, to be visible."""
    return " ".join(points if len(points) > 1 else points * 2)


def compute_x(time_slot: int) -> float:
    return (time_slot + 0.5) * PLOT_WIDTH / TIME_SLOT_COUNT


def get_uptime_level(day: Day) -> str:
    """Return the CSS class for the uptime of a day."""
    if day.uptime is None:
        return "none"
    if day.uptime >= GOOD_UPTIME:
        return "good"
    return "fair" if day.uptime >= FAIR_UPTIME else "poor"

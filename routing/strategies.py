"""Four pure functions from providers to an order, with the numbers that led to it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

# How much of its priority a provider keeps, by its health.
HEALTH_MULTIPLIERS = {"healthy": 1.0, "degraded": 0.5, "unknown": 0.8, "unhealthy": 0.0}
MIN_LOAD = 0.01
MIN_RESPONSE_TIME_MS = 0.001
# 2**64 divided by the golden ratio: its multiples fall evenly wherever one stops.
STEP, TURN = 0x9E3779B97F4A7C15, 2**64


@dataclass(frozen=True, slots=True)
class RoutingCandidate:
    """What a strategy may know of a provider; `item` is whose it is."""

    id: str
    agent_name: str
    priority: int
    health: str = "healthy"
    load: float | None = None
    response_time_ms: float | None = None
    takes_traffic: bool = True
    item: Any = field(default=None, compare=False, repr=False)

    @property
    def is_open(self) -> bool:
        """Whether a request may go there at all."""
        return self.takes_traffic and self.health != "unhealthy"

    @property
    def is_healthy(self) -> bool:
        return self.health == "healthy"

    @property
    def load_score(self) -> float:
        return self.load or 0.0

    @property
    def weight(self) -> float:
        return max(self.priority, 1) / max(self.load_score, MIN_LOAD)


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    """A candidate in its place; `why` is the formula with its numbers."""

    candidate: RoutingCandidate
    score: float
    why: str


Strategy = Callable[[Sequence[RoutingCandidate], int], list[RankedCandidate]]


def priority(
    candidates: Sequence[RoutingCandidate], turn: int = 0
) -> list[RankedCandidate]:
    """Highest priority first, less for poor health and for load."""

    def score(candidate: RoutingCandidate) -> float:
        multiplier = HEALTH_MULTIPLIERS[candidate.health]
        return candidate.priority * multiplier * (1 - candidate.load_score)

    def why(candidate: RoutingCandidate) -> str:
        multiplier = HEALTH_MULTIPLIERS[candidate.health]
        idle = f"(1 − {candidate.load_score:g} load)"
        return f"{candidate.priority} × {multiplier:g} {candidate.health} × {idle}"

    return ranked(candidates, score, why)


def load_balance(
    candidates: Sequence[RoutingCandidate], turn: int = 0
) -> list[RankedCandidate]:
    """Whose turn it is, in proportion to priority divided by load; then by weight."""
    sharing = {candidate.id: candidate for candidate in rotation_candidates(candidates)}
    total = sum(candidate.weight for candidate in sharing.values())

    def why(candidate: RoutingCandidate) -> str:
        load = max(candidate.load_score, MIN_LOAD)
        share = candidate.weight / total if candidate.id in sharing else 0.0
        weight = f"{max(candidate.priority, 1)} ÷ {load:g} load"
        return f"{weight}: {share:.1%} of all turns"

    order = ranked(candidates, lambda one: one.weight, why, healthy_first=True)
    in_turn = [place for place in order if place.candidate.id in sharing]
    if not in_turn:
        return order
    first = pick_by_turn(in_turn, turn)
    told = replace(first, why=f"its turn; {first.why}")
    return [told, *(place for place in order if place is not first)]


def rotation_candidates(
    candidates: Sequence[RoutingCandidate],
) -> list[RoutingCandidate]:
    """The healthy ones; where there are none, whoever takes traffic at all."""
    takers = [candidate for candidate in candidates if candidate.is_open]
    return [taker for taker in takers if taker.is_healthy] or takers


def least_loaded(
    candidates: Sequence[RoutingCandidate], turn: int = 0
) -> list[RankedCandidate]:
    """The lowest load score first, among those who are healthy."""
    return ranked(
        candidates,
        lambda candidate: 1 - candidate.load_score,
        lambda candidate: f"1 − {candidate.load_score:g} load",
        healthy_first=True,
    )


def fastest_response(
    candidates: Sequence[RoutingCandidate], turn: int = 0
) -> list[RankedCandidate]:
    """The lowest average response time first, among those who are healthy."""

    def score(candidate: RoutingCandidate) -> float:
        took = candidate.response_time_ms
        return 0.0 if took is None else 1000 / max(took, MIN_RESPONSE_TIME_MS)

    def why(candidate: RoutingCandidate) -> str:
        took = candidate.response_time_ms
        return "no response time known" if took is None else f"1 s ÷ {took:g} ms"

    return ranked(candidates, score, why, healthy_first=True)


STRATEGIES: dict[str, Strategy] = {
    "priority": priority,
    "load_balance": load_balance,
    "least_loaded": least_loaded,
    "fastest_response": fastest_response,
}


def ranked(
    candidates: Sequence[RoutingCandidate],
    score: Callable[[RoutingCandidate], float],
    why: Callable[[RoutingCandidate], str],
    *,
    healthy_first: bool = False,
) -> list[RankedCandidate]:
    """By score, those who take traffic first; ties are always broken the same way."""

    def behind(candidate: RoutingCandidate) -> bool:
        taking = healthy_first and candidate.is_open
        return taking and not candidate.is_healthy

    def place(candidate: RoutingCandidate) -> RankedCandidate:
        if not candidate.is_open:
            return RankedCandidate(candidate, 0.0, "takes no traffic")
        health = f"; {candidate.health}" if behind(candidate) else ""
        return RankedCandidate(candidate, score(candidate), why(candidate) + health)

    def preference(
        place: RankedCandidate,
    ) -> tuple[bool, bool, float, int, float, str, str]:
        candidate = place.candidate
        return (
            not candidate.is_open,
            behind(candidate),
            -place.score,
            -candidate.priority,
            candidate.load_score,
            candidate.agent_name,
            candidate.id,
        )

    return sorted(map(place, candidates), key=preference)


def pick_by_turn(takers: Sequence[RankedCandidate], turn: int) -> RankedCandidate:
    """Of these, in proportion to their scores; each turn has one answer."""
    by_id = sorted(takers, key=lambda place: place.candidate.id)
    point = (turn * STEP % TURN) / TURN * sum(place.score for place in by_id)
    for place in by_id:
        point -= place.score
        if point < 0:
            return place
    return by_id[-1]

"""Four pure functions from providers to an order, with the numbers that led to it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

# How much of its priority a provider keeps, by its health.
MULTIPLIERS = {"healthy": 1.0, "degraded": 0.5, "unknown": 0.8, "unhealthy": 0.0}
LEAST_LOAD = 0.01
LEAST_TIME_MS = 0.001
# 2**64 divided by the golden ratio: its multiples fall evenly wherever one stops.
STEP, TURN = 0x9E3779B97F4A7C15, 2**64


@dataclass(frozen=True, slots=True)
class Candidate:
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
        return max(self.priority, 1) / max(self.load_score, LEAST_LOAD)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate in its place; `why` is the formula with its numbers."""

    candidate: Candidate
    score: float
    why: str


Strategy = Callable[[Sequence[Candidate], int], list[Ranked]]


def priority(candidates: Sequence[Candidate], turn: int = 0) -> list[Ranked]:
    """Highest priority first, less for poor health and for load."""

    def score(candidate: Candidate) -> float:
        multiplier = MULTIPLIERS[candidate.health]
        return candidate.priority * multiplier * (1 - candidate.load_score)

    def why(candidate: Candidate) -> str:
        multiplier = MULTIPLIERS[candidate.health]
        idle = f"(1 − {candidate.load_score:g} load)"
        return f"{candidate.priority} × {multiplier:g} {candidate.health} × {idle}"

    return ranked(candidates, score, why)


def load_balance(candidates: Sequence[Candidate], turn: int = 0) -> list[Ranked]:
    """Whose turn it is, in proportion to priority divided by load; then by weight."""
    sharing = {candidate.id: candidate for candidate in those_sharing(candidates)}
    total = sum(candidate.weight for candidate in sharing.values())

    def why(candidate: Candidate) -> str:
        load = max(candidate.load_score, LEAST_LOAD)
        share = candidate.weight / total if candidate.id in sharing else 0.0
        weight = f"{max(candidate.priority, 1)} ÷ {load:g} load"
        return f"{weight}: {share:.1%} of all turns"

    order = ranked(candidates, lambda one: one.weight, why, healthy_first=True)
    in_turn = [place for place in order if place.candidate.id in sharing]
    if not in_turn:
        return order
    first = chosen(in_turn, turn)
    told = replace(first, why=f"its turn; {first.why}")
    return [told, *(place for place in order if place is not first)]


def those_sharing(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The healthy ones; where there are none, whoever takes traffic at all."""
    takers = [candidate for candidate in candidates if candidate.is_open]
    return [taker for taker in takers if taker.is_healthy] or takers


def least_loaded(candidates: Sequence[Candidate], turn: int = 0) -> list[Ranked]:
    """The lowest load score first, among those who are healthy."""
    return ranked(
        candidates,
        lambda candidate: 1 - candidate.load_score,
        lambda candidate: f"1 − {candidate.load_score:g} load",
        healthy_first=True,
    )


def fastest_response(candidates: Sequence[Candidate], turn: int = 0) -> list[Ranked]:
    """The lowest average response time first, among those who are healthy."""

    def score(candidate: Candidate) -> float:
        took = candidate.response_time_ms
        return 0.0 if took is None else 1000 / max(took, LEAST_TIME_MS)

    def why(candidate: Candidate) -> str:
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
    candidates: Sequence[Candidate],
    score: Callable[[Candidate], float],
    why: Callable[[Candidate], str],
    *,
    healthy_first: bool = False,
) -> list[Ranked]:
    """By score, those who take traffic first; ties are always broken the same way."""

    def behind(candidate: Candidate) -> bool:
        taking = healthy_first and candidate.is_open
        return taking and not candidate.is_healthy

    def place(candidate: Candidate) -> Ranked:
        if not candidate.is_open:
            return Ranked(candidate, 0.0, "takes no traffic")
        health = f"; {candidate.health}" if behind(candidate) else ""
        return Ranked(candidate, score(candidate), why(candidate) + health)

    def preference(place: Ranked) -> tuple[bool, bool, float, int, float, str, str]:
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


def chosen(takers: Sequence[Ranked], turn: int) -> Ranked:
    """Of these, in proportion to their scores; each turn has one answer."""
    by_id = sorted(takers, key=lambda place: place.candidate.id)
    point = (turn * STEP % TURN) / TURN * sum(place.score for place in by_id)
    for place in by_id:
        point -= place.score
        if point < 0:
            return place
    return by_id[-1]

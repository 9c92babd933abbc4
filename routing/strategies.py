"""Routing strategies: pure functions that rank providers and give a reason for each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

# Factors for the priority of a provider, by its health.
HEALTH_MULTIPLIERS = {"healthy": 1.0, "degraded": 0.5, "unknown": 0.8, "unhealthy": 0.0}
MIN_LOAD = 0.01
MIN_RESPONSE_TIME_MS = 0.001
# The step is 2**64 divided by the golden ratio. Its multiples, modulo 2**64, are spread
# evenly over the range after any number of turns.
ROTATION_STEP, ROTATION_RANGE = 0x9E3779B97F4A7C15, 2**64


@dataclass(frozen=True, slots=True)
class RoutingCandidate:
    """The values of a provider that strategies use, and its registration."""

    id: str
    agent_name: str
    priority: int
    health: str = "healthy"
    load: float | None = None
    response_time_ms: float | None = None
    takes_traffic: bool = True
    registration: Any = field(default=None, compare=False, repr=False)

    @property
    def is_available(self) -> bool:
        """Whether requests may be sent to the provider."""
        return self.takes_traffic and self.health != "unhealthy"

    @property
    def has_good_health(self) -> bool:
        """Whether the provider is healthy, even if it takes no traffic."""
        return self.health == "healthy"

    @property
    def effective_load(self) -> float:
        """The load, where an unknown load counts as 0."""
        return self.load or 0.0

    @property
    def rotation_weight(self) -> float:
        """The share of requests under `load_balance`, relative to other providers."""
        return max(self.priority, 1) / max(self.effective_load, MIN_LOAD)


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    """A candidate with its score and, as text, how the score was computed."""

    candidate: RoutingCandidate
    score: float
    reason: str


Strategy = Callable[[Sequence[RoutingCandidate], int], list[RankedCandidate]]


def rank_by_priority(
    candidates: Sequence[RoutingCandidate], turn: int = 0
) -> list[RankedCandidate]:
    """Rank by priority, reduced by poor health and by load."""

    def get_score(candidate: RoutingCandidate) -> float:
        multiplier = HEALTH_MULTIPLIERS[candidate.health]
        return candidate.priority * multiplier * (1 - candidate.effective_load)

    def get_reason(candidate: RoutingCandidate) -> str:
        multiplier = HEALTH_MULTIPLIERS[candidate.health]
        return (
            f"Priority {candidate.priority} × health {multiplier:g}"
            f" ({candidate.health}) × (1 − load {candidate.effective_load:g})"
        )

    return rank_candidates(candidates, get_score, get_reason)


def rank_by_rotation(
    candidates: Sequence[RoutingCandidate], turn: int = 0
) -> list[RankedCandidate]:
    """Put the provider whose turn it is first, then rank the others by weight.

    Over many turns, each provider is first in proportion to its weight.
    """
    in_rotation = {
        candidate.id: candidate for candidate in select_for_rotation(candidates)
    }
    total_weight = sum(candidate.rotation_weight for candidate in in_rotation.values())

    def get_reason(candidate: RoutingCandidate) -> str:
        is_in_rotation = candidate.id in in_rotation
        share = candidate.rotation_weight / total_weight if is_in_rotation else 0.0
        load = max(candidate.effective_load, MIN_LOAD)
        formula = f"priority {max(candidate.priority, 1)} ÷ load {load:g}"
        return f"{round(share * 100, 1):g} % share: {formula}"

    ranking = rank_candidates(
        candidates,
        lambda candidate: candidate.rotation_weight,
        get_reason,
        healthy_first=True,
    )
    ranked_in_rotation = [
        ranked for ranked in ranking if ranked.candidate.id in in_rotation
    ]
    if not ranked_in_rotation:
        return ranking
    first = pick_by_turn(ranked_in_rotation, turn)
    share, _, formula = first.reason.partition(": ")
    next_in_rotation = replace(first, reason=f"Next in rotation ({share}): {formula}")
    return [next_in_rotation, *(ranked for ranked in ranking if ranked is not first)]


def select_for_rotation(
    candidates: Sequence[RoutingCandidate],
) -> list[RoutingCandidate]:
    """Return the healthy candidates, or all available ones if none is healthy."""
    available = [candidate for candidate in candidates if candidate.is_available]
    healthy = [candidate for candidate in available if candidate.has_good_health]
    return healthy or available


def rank_by_load(
    candidates: Sequence[RoutingCandidate], turn: int = 0
) -> list[RankedCandidate]:
    """Rank the lowest load first; healthy providers come before the others."""
    return rank_candidates(
        candidates,
        lambda candidate: 1 - candidate.effective_load,
        lambda candidate: f"1 − load {candidate.effective_load:g}",
        healthy_first=True,
    )


def rank_by_response_time(
    candidates: Sequence[RoutingCandidate], turn: int = 0
) -> list[RankedCandidate]:
    """Rank the lowest response time first; healthy providers come before the others."""

    def get_score(candidate: RoutingCandidate) -> float:
        milliseconds = candidate.response_time_ms
        if milliseconds is None:
            return 0.0
        return 1000 / max(milliseconds, MIN_RESPONSE_TIME_MS)

    def get_reason(candidate: RoutingCandidate) -> str:
        milliseconds = candidate.response_time_ms
        if milliseconds is None:
            return "Response time unknown"
        return f"1 s ÷ response time {milliseconds:g} ms"

    return rank_candidates(candidates, get_score, get_reason, healthy_first=True)


STRATEGIES: dict[str, Strategy] = {
    "priority": rank_by_priority,
    "load_balance": rank_by_rotation,
    "least_loaded": rank_by_load,
    "fastest_response": rank_by_response_time,
}


def rank_candidates(
    candidates: Sequence[RoutingCandidate],
    get_score: Callable[[RoutingCandidate], float],
    get_reason: Callable[[RoutingCandidate], str],
    *,
    healthy_first: bool = False,
) -> list[RankedCandidate]:
    """Rank by score, available candidates first, with a fixed order for equal scores.

    With `healthy_first`, healthy candidates come before other available ones.
    """

    def is_ranked_after_healthy(candidate: RoutingCandidate) -> bool:
        return (
            healthy_first and candidate.is_available and not candidate.has_good_health
        )

    def rank(candidate: RoutingCandidate) -> RankedCandidate:
        if not candidate.is_available:
            return RankedCandidate(candidate, 0.0, "Receives no requests")
        reason = get_reason(candidate)
        if is_ranked_after_healthy(candidate):
            reason = f"{reason}; {candidate.health}"
        return RankedCandidate(candidate, get_score(candidate), reason)

    def sort_key(
        ranked: RankedCandidate,
    ) -> tuple[bool, bool, float, int, float, str, str]:
        candidate = ranked.candidate
        return (
            not candidate.is_available,
            is_ranked_after_healthy(candidate),
            -ranked.score,
            -candidate.priority,
            candidate.effective_load,
            candidate.agent_name,
            candidate.id,
        )

    return sorted(map(rank, candidates), key=sort_key)


def pick_by_turn(
    ranked_in_rotation: Sequence[RankedCandidate], turn: int
) -> RankedCandidate:
    """Return the candidate of a turn; the scores are the weights.

    The same turn and candidates always give the same result.
    """
    by_id = sorted(ranked_in_rotation, key=lambda ranked: ranked.candidate.id)
    fraction = (turn * ROTATION_STEP % ROTATION_RANGE) / ROTATION_RANGE
    remaining_weight = fraction * sum(ranked.score for ranked in by_id)
    for ranked in by_id:
        remaining_weight -= ranked.score
        if remaining_weight < 0:
            return ranked
    return by_id[-1]

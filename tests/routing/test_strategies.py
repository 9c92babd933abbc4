"""The routing strategies as pure functions: properties and examples."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routing.strategies import HEALTH_MULTIPLIERS, STRATEGIES, RoutingCandidate

LOADS = st.none() | st.integers(0, 100).map(lambda percent: percent / 100)
# Averages of whole milliseconds; a small range, so that ties occur.
TIMES = st.none() | st.integers(0, 12).map(lambda n: n / 4) | st.integers(0, 86_400_000)
TURNS = 10_000
with_each_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


@st.composite
def candidate_lists(draw, min_size=0):
    ids = draw(st.lists(st.integers(0, 99), min_size=min_size, max_size=8, unique=True))
    return [
        RoutingCandidate(
            id=f"cap-reg-{n}",
            agent_name=draw(st.sampled_from(["Ada", "Bob", "Zoe"])),
            priority=draw(st.sampled_from([0, 1, 50, 100, 1000])),
            health=draw(st.sampled_from(list(HEALTH_MULTIPLIERS))),
            load=draw(LOADS),
            response_time_ms=draw(TIMES),
            takes_traffic=draw(st.booleans()),
        )
        for n in ids
    ]


def build_candidate(name="a", **members):
    return RoutingCandidate(
        **{"id": name, "agent_name": name, "priority": 100} | members
    )


def get_order(strategy, candidates, turn=0):
    return [ranked.candidate for ranked in STRATEGIES[strategy](candidates, turn)]


def get_ids(strategy, *candidates):
    return [candidate.id for candidate in get_order(strategy, candidates)]


@with_each_strategy
@given(candidates=candidate_lists(), turn=st.integers(0, 2**63))
def test_unavailable_candidates_come_last_with_score_zero(strategy, candidates, turn):
    def is_available(candidate):
        return candidate.takes_traffic and candidate.health != "unhealthy"

    ranking = STRATEGIES[strategy](candidates, turn)
    availability = [is_available(ranked.candidate) for ranked in ranking]

    assert availability == sorted(availability, reverse=True)
    assert all(
        ranked.score == 0 for ranked in ranking if not is_available(ranked.candidate)
    )


@with_each_strategy
@given(candidates=candidate_lists(), turn=st.integers(0, 2**63))
def test_order_contains_each_candidate_once(strategy, candidates, turn):
    assert Counter(get_order(strategy, candidates, turn)) == Counter(candidates)


@with_each_strategy
@given(
    candidates=candidate_lists(),
    turn=st.integers(0, 2**63),
    shuffle=st.randoms(use_true_random=False),
)
def test_order_is_independent_of_input_order(strategy, candidates, turn, shuffle):
    shuffled = candidates[:]
    shuffle.shuffle(shuffled)

    assert get_order(strategy, shuffled, turn) == get_order(strategy, candidates, turn)


@given(candidates=candidate_lists())
def test_priority_score_follows_formula(candidates):
    multiplier = {"healthy": 1.0, "degraded": 0.5, "unknown": 0.8, "unhealthy": 0.0}
    for ranked in STRATEGIES["priority"](candidates, 0):
        candidate = ranked.candidate
        expected = (
            candidate.priority
            * multiplier[candidate.health]
            * (1 - (candidate.load or 0))
        )
        assert ranked.score == (expected if candidate.takes_traffic else 0)


def get_available_candidates(strategy, candidates, turn=0):
    return [c for c in get_order(strategy, candidates, turn) if c.is_available]


@pytest.mark.parametrize("strategy", ["least_loaded", "fastest_response"])
@given(candidates=candidate_lists())
def test_healthy_candidates_come_first(strategy, candidates):
    healthy = [
        candidate.has_good_health
        for candidate in get_available_candidates(strategy, candidates)
    ]

    assert healthy == sorted(healthy, reverse=True)


@given(candidates=candidate_lists(min_size=1), turn=st.integers(0, 2**63))
def test_load_balance_picks_healthy_candidate_if_any_is_available(candidates, turn):
    available = get_available_candidates("load_balance", candidates, turn)

    if any(candidate.has_good_health for candidate in available):
        assert available[0].has_good_health


def split_by_health(candidates):
    """Return two lists: the healthy candidates and the others."""
    return [
        [candidate for candidate in candidates if candidate.has_good_health is healthy]
        for healthy in (True, False)
    ]


@given(candidates=candidate_lists())
def test_least_loaded_orders_by_load(candidates):
    for group in split_by_health(get_available_candidates("least_loaded", candidates)):
        loads = [candidate.load or 0.0 for candidate in group]
        assert loads == sorted(loads)


@given(candidates=candidate_lists())
def test_fastest_response_orders_by_time_with_unknown_last(candidates):
    for group in split_by_health(
        get_available_candidates("fastest_response", candidates)
    ):
        times = [c.response_time_ms for c in group]
        measured = [time for time in times if time is not None]
        assert times == sorted(measured) + [None] * (len(times) - len(measured))


@pytest.mark.parametrize("strategy", ["load_balance", "least_loaded"])
def test_degraded_candidates_are_used_without_healthy_ones(strategy):
    candidates = [
        build_candidate("degraded", health="degraded"),
        build_candidate("unknown", health="unknown"),
    ]

    assert set(get_ids(strategy, *candidates)) == {"degraded", "unknown"}
    assert STRATEGIES[strategy](candidates, 1)[0].score > 0


def test_fastest_response_compares_fractions_of_milliseconds():
    slower = build_candidate("slower", response_time_ms=0.9, priority=1000)

    assert get_ids(
        "fastest_response", slower, build_candidate("faster", response_time_ms=0.5)
    ) == [
        "faster",
        "slower",
    ]


@pytest.mark.parametrize("strategy", ["priority", "least_loaded", "fastest_response"])
@given(candidates=candidate_lists())
def test_scores_descend_within_same_health(strategy, candidates):
    ranking = [
        ranked
        for ranked in STRATEGIES[strategy](candidates, 0)
        if ranked.candidate.takes_traffic
    ]
    groups = split_by_health([ranked.candidate for ranked in ranking])
    for group in [[*groups[0], *groups[1]]] if strategy == "priority" else groups:
        scores = [ranked.score for ranked in ranking if ranked.candidate in group]
        assert scores == sorted(scores, reverse=True)


def test_equal_scores_are_ordered_by_priority_load_name_and_id():
    candidates = [
        build_candidate(
            "4", agent_name="Bob", response_time_ms=7, priority=50, load=0.2
        ),
        build_candidate(
            "3", agent_name="Bob", response_time_ms=7, priority=50, load=0.2
        ),
        build_candidate(
            "5", agent_name="Ada", response_time_ms=7, priority=50, load=0.2
        ),
        build_candidate(
            "6", agent_name="Zoe", response_time_ms=7, priority=50, load=0.1
        ),
        build_candidate(
            "7", agent_name="Zoe", response_time_ms=7, priority=60, load=0.9
        ),
    ]

    assert get_ids("fastest_response", *candidates) == ["7", "6", "5", "3", "4"]


def test_zero_scores_are_ordered_like_other_equal_scores():
    assert get_ids(
        "priority", build_candidate("b", priority=0), build_candidate("a", priority=0)
    ) == ["a", "b"]
    assert get_ids(
        "priority",
        build_candidate("a", load=1.0),
        build_candidate("b", load=1.0, priority=9),
    ) == [
        "a",
        "b",
    ]


def test_priority_score_of_specification_example_is_seventy():
    assert STRATEGIES["priority"]([build_candidate(load=0.3)], 0)[
        0
    ].score == pytest.approx(70)


def test_poorer_health_lowers_priority_score():
    candidates = [
        build_candidate("unknown", health="unknown"),
        build_candidate("degraded", health="degraded"),
        build_candidate("healthy"),
        build_candidate("unhealthy", health="unhealthy", takes_traffic=False),
    ]

    assert get_ids("priority", *candidates) == [
        "healthy",
        "unknown",
        "degraded",
        "unhealthy",
    ]


def test_unknown_load_counts_as_zero():
    assert (
        build_candidate(load=None).rotation_weight
        == build_candidate(load=0.0).rotation_weight
        == 100 / 0.01
    )
    assert get_ids(
        "least_loaded",
        build_candidate("b", load=0.1),
        build_candidate("c"),
        build_candidate("a", load=0),
    ) == [
        "a",
        "c",
        "b",
    ]


def test_weight_is_priority_divided_by_load_and_positive():
    assert build_candidate(priority=100, load=0.5).rotation_weight == 200
    assert build_candidate(priority=0, load=1.0).rotation_weight == 1
    assert build_candidate(priority=0, load=0.0).rotation_weight == 100


def test_explanation_of_priority_contains_formula():
    [ranked] = STRATEGIES["priority"](
        [build_candidate(load=0.25, health="degraded")], 0
    )

    assert ranked.reason == "Priority 100 × health 0.5 (degraded) × (1 − load 0.25)"
    assert ranked.score == 37.5


def test_explanation_of_load_balance_contains_turn_and_shares():
    candidates = [
        build_candidate("a", priority=10, load=0.5),
        build_candidate("b", priority=30, load=0.5),
        build_candidate("c", priority=500, health="degraded"),
    ]
    explanations = {
        ranked.candidate.id: ranked.reason
        for ranked in STRATEGIES["load_balance"](candidates, 1)
    }

    assert explanations == {
        "a": "25 % share: priority 10 ÷ load 0.5",
        "b": "Next in rotation (75 % share): priority 30 ÷ load 0.5",
        "c": "0 % share: priority 500 ÷ load 0.01; degraded",
    }


@settings(max_examples=8)
@given(
    weights=st.lists(st.tuples(st.integers(0, 1000), LOADS), min_size=1, max_size=8),
    start=st.integers(0, 2**40),
)
def test_shares_of_turns_approximate_weights(weights, start):
    candidates = [
        build_candidate(f"{n}", priority=priority, load=load)
        for n, (priority, load) in enumerate(weights)
    ]
    total = sum(candidate.rotation_weight for candidate in candidates)
    picks = Counter(
        get_order("load_balance", candidates, turn)[0].id
        for turn in range(start, start + TURNS)
    )

    for candidate in candidates:
        assert picks[candidate.id] / TURNS == pytest.approx(
            candidate.rotation_weight / total, abs=0.01
        )


def test_equal_weights_get_equal_shares_over_few_turns():
    candidates = [build_candidate(str(n)) for n in range(4)]
    for start in random.Random(1).sample(range(10**6), 20):
        picks = Counter(
            get_order("load_balance", candidates, start + n)[0].id for n in range(100)
        )
        assert set(picks) == {"0", "1", "2", "3"}
        assert max(picks.values()) - min(picks.values()) <= 4


def test_load_balance_orders_remaining_candidates_by_weight():
    candidates = [
        build_candidate("a", priority=10),
        build_candidate("b", priority=20),
        build_candidate("c", priority=30),
    ]
    for turn in range(50):
        first, *remaining = get_order("load_balance", candidates, turn)
        assert [c.priority for c in remaining] == sorted(
            (c.priority for c in candidates if c is not first), reverse=True
        )


def test_candidate_that_takes_no_traffic_is_not_in_rotation():
    candidates = [
        build_candidate("a"),
        build_candidate("b", priority=1000, takes_traffic=False),
    ]

    assert {
        get_order("load_balance", candidates, turn)[0].id for turn in range(1000)
    } == {"a"}
    assert get_order("load_balance", candidates[1:], 5) == candidates[1:]
    assert get_order("load_balance", [], 5) == []

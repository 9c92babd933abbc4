"""Each strategy as a pure function: what holds for any providers, and literally."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routing.strategies import HEALTH_MULTIPLIERS, STRATEGIES, RoutingCandidate

LOADS = st.none() | st.integers(0, 100).map(lambda percent: percent / 100)
# Averages of whole milliseconds; few values, so that there are ties.
TIMES = st.none() | st.integers(0, 12).map(lambda n: n / 4) | st.integers(0, 86_400_000)
TURNS = 10_000
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


@st.composite
def candidates(draw, min_size=0):
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


def one(name="a", **members):
    return RoutingCandidate(
        **{"id": name, "agent_name": name, "priority": 100} | members
    )


def order(strategy, given, turn=0):
    return [place.candidate for place in STRATEGIES[strategy](given, turn)]


def names(strategy, *given):
    return [candidate.id for candidate in order(strategy, given)]


@every_strategy
@given(given=candidates(), turn=st.integers(0, 2**63))
def test_whoever_takes_no_traffic_or_is_unhealthy_comes_after_all_others(
    strategy, given, turn
):
    def may(candidate):
        return candidate.takes_traffic and candidate.health != "unhealthy"

    places = STRATEGIES[strategy](given, turn)
    open_first = [may(place.candidate) for place in places]

    assert open_first == sorted(open_first, reverse=True)
    assert all(place.score == 0 for place in places if not may(place.candidate))


@every_strategy
@given(given=candidates(), turn=st.integers(0, 2**63))
def test_nobody_is_lost_and_nobody_comes_twice(strategy, given, turn):
    assert Counter(order(strategy, given, turn)) == Counter(given)


@every_strategy
@given(
    given=candidates(),
    turn=st.integers(0, 2**63),
    shuffle=st.randoms(use_true_random=False),
)
def test_the_order_they_come_in_does_not_matter(strategy, given, turn, shuffle):
    shuffled = given[:]
    shuffle.shuffle(shuffled)

    assert order(strategy, shuffled, turn) == order(strategy, given, turn)


@given(given=candidates())
def test_priority_is_the_formula_of_the_seed(given):
    multiplier = {"healthy": 1.0, "degraded": 0.5, "unknown": 0.8, "unhealthy": 0.0}
    for place in STRATEGIES["priority"](given, 0):
        candidate = place.candidate
        literally = (
            candidate.priority
            * multiplier[candidate.health]
            * (1 - (candidate.load or 0))
        )
        assert place.score == (literally if candidate.takes_traffic else 0)


def taking(strategy, given, turn=0):
    return [c for c in order(strategy, given, turn) if c.is_open]


@pytest.mark.parametrize("strategy", ["least_loaded", "fastest_response"])
@given(given=candidates())
def test_among_those_who_take_traffic_the_healthy_come_first(strategy, given):
    healthy = [candidate.is_healthy for candidate in taking(strategy, given)]

    assert healthy == sorted(healthy, reverse=True)


@given(given=candidates(min_size=1), turn=st.integers(0, 2**63))
def test_only_the_healthy_have_a_turn_while_there_is_one(given, turn):
    found = taking("load_balance", given, turn)

    if any(candidate.is_healthy for candidate in found):
        assert found[0].is_healthy


def by_health(found):
    """Those who are healthy, and the others."""
    return [
        [candidate for candidate in found if candidate.is_healthy is healthy]
        for healthy in (True, False)
    ]


@given(given=candidates())
def test_the_least_loaded_takes_it(given):
    for alike in by_health(taking("least_loaded", given)):
        loads = [candidate.load or 0.0 for candidate in alike]
        assert loads == sorted(loads)


@given(given=candidates())
def test_the_fastest_takes_it_and_who_has_no_time_comes_last(given):
    for alike in by_health(taking("fastest_response", given)):
        times = [c.response_time_ms for c in alike]
        told = [took for took in times if took is not None]
        assert times == sorted(told) + [None] * (len(times) - len(told))


@pytest.mark.parametrize("strategy", ["load_balance", "least_loaded"])
def test_where_nobody_is_healthy_the_others_take_it(strategy):
    given = [one("slow", health="degraded"), one("new", health="unknown")]

    assert set(names(strategy, *given)) == {"slow", "new"}
    assert STRATEGIES[strategy](given, 1)[0].score > 0


def test_the_faster_of_two_is_first_even_below_a_millisecond():
    slower = one("slower", response_time_ms=0.9, priority=1000)

    assert names("fastest_response", slower, one("faster", response_time_ms=0.5)) == [
        "faster",
        "slower",
    ]


@pytest.mark.parametrize("strategy", ["priority", "least_loaded", "fastest_response"])
@given(given=candidates())
def test_scores_never_rise_among_those_alike(strategy, given):
    places = [p for p in STRATEGIES[strategy](given, 0) if p.candidate.takes_traffic]
    alike = by_health([place.candidate for place in places])
    for group in [[*alike[0], *alike[1]]] if strategy == "priority" else alike:
        scores = [place.score for place in places if place.candidate in group]
        assert scores == sorted(scores, reverse=True)


def test_one_and_the_same_score_is_decided_by_priority_load_name_and_id():
    given = [
        one("4", agent_name="Bob", response_time_ms=7, priority=50, load=0.2),
        one("3", agent_name="Bob", response_time_ms=7, priority=50, load=0.2),
        one("5", agent_name="Ada", response_time_ms=7, priority=50, load=0.2),
        one("6", agent_name="Zoe", response_time_ms=7, priority=50, load=0.1),
        one("7", agent_name="Zoe", response_time_ms=7, priority=60, load=0.9),
    ]

    assert names("fastest_response", *given) == ["7", "6", "5", "3", "4"]


def test_where_all_scores_are_nothing_the_same_rule_decides():
    assert names("priority", one("b", priority=0), one("a", priority=0)) == ["a", "b"]
    assert names("priority", one("a", load=1.0), one("b", load=1.0, priority=9)) == [
        "a",
        "b",
    ]


def test_the_seeds_example_scores_seventy():
    assert STRATEGIES["priority"]([one(load=0.3)], 0)[0].score == pytest.approx(70)


def test_poor_health_costs_priority():
    given = [
        one("new", health="unknown"),
        one("slow", health="degraded"),
        one("well"),
        one("gone", health="unhealthy", takes_traffic=False),
    ]

    assert names("priority", *given) == ["well", "new", "slow", "gone"]


def test_a_load_nobody_told_counts_as_none():
    assert one(load=None).weight == one(load=0.0).weight == 100 / 0.01
    assert names("least_loaded", one("b", load=0.1), one("c"), one("a", load=0)) == [
        "a",
        "c",
        "b",
    ]


def test_a_weight_is_priority_divided_by_load_and_never_nothing():
    assert one(priority=100, load=0.5).weight == 200
    assert one(priority=0, load=1.0).weight == 1
    assert one(priority=0, load=0.0).weight == 100


def test_why_tells_the_numbers():
    [place] = STRATEGIES["priority"]([one(load=0.25, health="degraded")], 0)

    assert place.why == "100 × 0.5 degraded × (1 − 0.25 load)"
    assert place.score == 37.5


def test_why_tells_whose_turn_it_is_and_how_many_each_has():
    given = [
        one("a", priority=10, load=0.5),
        one("b", priority=30, load=0.5),
        one("c", priority=500, health="degraded"),
    ]
    told = {p.candidate.id: p.why for p in STRATEGIES["load_balance"](given, 1)}

    assert told == {
        "a": "10 ÷ 0.5 load: 25.0% of all turns",
        "b": "its turn; 30 ÷ 0.5 load: 75.0% of all turns",
        "c": "500 ÷ 0.01 load: 0.0% of all turns; degraded",
    }


@settings(max_examples=8)
@given(
    weights=st.lists(st.tuples(st.integers(0, 1000), LOADS), min_size=1, max_size=8),
    start=st.integers(0, 2**40),
)
def test_shares_of_ten_thousand_turns_are_the_weights_within_a_hundredth(
    weights, start
):
    given = [
        one(f"{n}", priority=priority, load=load)
        for n, (priority, load) in enumerate(weights)
    ]
    total = sum(candidate.weight for candidate in given)
    picks = Counter(
        order("load_balance", given, turn)[0].id for turn in range(start, start + TURNS)
    )

    for candidate in given:
        assert picks[candidate.id] / TURNS == pytest.approx(
            candidate.weight / total, abs=0.01
        )


def test_equal_weights_are_even_even_over_a_few_turns():
    given = [one(str(n)) for n in range(4)]
    for start in random.Random(1).sample(range(10**6), 20):
        picks = Counter(
            order("load_balance", given, start + n)[0].id for n in range(100)
        )
        assert set(picks) == {"0", "1", "2", "3"}
        assert max(picks.values()) - min(picks.values()) <= 4


def test_after_whose_turn_it_is_come_the_others_by_weight():
    given = [one("a", priority=10), one("b", priority=20), one("c", priority=30)]
    for turn in range(50):
        first, *others = order("load_balance", given, turn)
        assert [c.priority for c in others] == sorted(
            (c.priority for c in given if c is not first), reverse=True
        )


def test_who_takes_no_traffic_never_has_a_turn():
    given = [one("a"), one("b", priority=1000, takes_traffic=False)]

    assert {order("load_balance", given, turn)[0].id for turn in range(1000)} == {"a"}
    assert order("load_balance", given[1:], 5) == given[1:]
    assert order("load_balance", [], 5) == []

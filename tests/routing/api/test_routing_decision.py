"""Routing decisions: GET /capabilities/{capability}."""

from collections import Counter

import pytest

from catalog.models import Status
from routing.models import CapabilityRegistration, RoutingCounter
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory
from tests.routing.api.requests import (
    REGISTRY_URL,
    get_agent_names,
    get_decision,
    request_decision,
)
from tests.routing.factories import RegistrationFactory, create_registration

pytestmark = pytest.mark.django_db


# Strategies


@pytest.fixture
def three_providers(db):
    """Create providers of which each is first by another strategy."""
    create_registration("Preferred", load=0.4, priority=100, response_time_avg_ms=900)
    create_registration("LeastLoaded", load=0.1, priority=50, response_time_avg_ms=800)
    create_registration("Fast", load=0.5, priority=50, response_time_avg_ms=100)


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("priority", ["Preferred", "LeastLoaded", "Fast"]),
        ("least_loaded", ["LeastLoaded", "Preferred", "Fast"]),
        ("fastest_response", ["Fast", "LeastLoaded", "Preferred"]),
    ],
)
def test_strategy_orders_providers_by_score(
    viewer_api, three_providers, strategy, expected
):
    decision = get_decision(viewer_api, routing_strategy=strategy)

    assert [provider["agent_name"] for provider in decision["providers"]] == expected
    assert decision["routing_strategy"] == strategy
    scores = [provider["routing_score"] for provider in decision["providers"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("query", [{}, {"routing_strategy": ""}], ids=str)
def test_routing_strategy_defaults_to_priority(viewer_api, three_providers, query):
    decision = get_decision(viewer_api, **query)

    assert decision["routing_strategy"] == "priority"
    scores = [provider["routing_score"] for provider in decision["providers"]]
    assert scores == [60.0, 45.0, 25.0]


@pytest.mark.parametrize(
    ("state", "score"),
    [(Status.ACTIVE, 50), (Status.UNKNOWN, 40), (Status.DEGRADED, 25)],
)
def test_routing_score_is_lower_for_poorer_health(viewer_api, state, score):
    RegistrationFactory(entry__status=state)

    assert get_decision(viewer_api)["providers"][0]["routing_score"] == score


def test_fastest_response_puts_provider_without_response_time_last(viewer_api):
    create_registration("Unmeasured", priority=1000)
    create_registration("Slow", response_time_avg_ms=60_000)

    assert get_agent_names(viewer_api, routing_strategy="fastest_response") == [
        "Slow",
        "Unmeasured",
    ]


def test_ties_are_broken_by_priority_load_and_name(viewer_api):
    create_registration("Zoe", load=1.0, priority=10)
    create_registration("Ben", load=1.0, priority=20)
    create_registration("Ann", load=1.0, priority=10)
    create_registration("Low", load=0.5, priority=0)

    assert get_agent_names(viewer_api) == ["Ben", "Ann", "Zoe", "Low"]


def test_load_balance_picks_in_proportion_to_weight(viewer_api):
    create_registration("Twice", priority=200)
    create_registration("Once", priority=100)
    strategy = {"routing_strategy": "load_balance"}
    counts = Counter(get_agent_names(viewer_api, **strategy)[0] for _ in range(30))

    assert counts["Twice"] in (19, 20, 21)
    assert counts.total() == 30


def test_load_balance_orders_remaining_providers_by_weight(viewer_api):
    for name, priority in (("A", 30), ("B", 20), ("C", 10)):
        create_registration(name, priority=priority)
    orders = [
        get_agent_names(viewer_api, routing_strategy="load_balance") for _ in range(12)
    ]

    assert {tuple(names[1:]) for names in orders} == {
        ("B", "C"),
        ("A", "C"),
        ("A", "B"),
    }


def get_first_picks(client, times: int, **query) -> list[str]:
    query = {"routing_strategy": "load_balance"} | query
    return [get_agent_names(client, **query)[0] for _ in range(times)]


def test_peek_returns_next_pick_without_advancing_rotation(viewer_api):
    for name in "ABC":
        create_registration(name)
    rounds = [
        (
            set(get_first_picks(viewer_api, 3, peek="true")),
            get_first_picks(viewer_api, 1),
        )
        for _ in range(9)
    ]

    assert all(peeked == set(picked) for peeked, picked in rounds)
    assert Counter(picked for _, (picked,) in rounds) == {"A": 3, "B": 3, "C": 3}


def test_only_load_balance_without_peek_advances_rotation(viewer_api, settings):
    settings.REDIS_URL = ""
    create_registration("A")
    for strategy in ("priority", "least_loaded", "fastest_response"):
        get_decision(viewer_api, routing_strategy=strategy)
    get_decision(viewer_api, routing_strategy="load_balance", peek="true")

    assert not RoutingCounter.objects.exists()


def test_rotation_counts_each_capability_and_version_separately(viewer_api, settings):
    settings.REDIS_URL = ""
    create_registration("A", version="2.0.0")
    get_first_picks(viewer_api, 2)
    get_first_picks(viewer_api, 3, version="2.0.0")

    counters = dict(RoutingCounter.objects.values_list("key", "value"))
    assert counters == {"data-analysis:": 2, "data-analysis:2.0.0": 3}


@pytest.mark.parametrize("version", ["9.9.9", "9" * 500], ids=["short", "long"])
@pytest.mark.parametrize("redis", [False, True], ids=["database", "configured"])
def test_unknown_version_does_not_advance_rotation(
    viewer_api, settings, version, redis
):
    settings.REDIS_URL = settings.REDIS_URL if redis else ""
    create_registration("A")
    decision = get_decision(
        viewer_api, routing_strategy="load_balance", version=version
    )

    assert (decision["providers"], decision["total_providers"]) == ([], 0)
    assert not RoutingCounter.objects.exists()


@pytest.mark.parametrize("strategy", ["round_robin", "Priority", "broadcast"])
def test_unknown_strategy_returns_422(viewer_api, strategy):
    create_registration("A")
    response = request_decision(viewer_api, routing_strategy=strategy)
    body = assert_error_response(response, 422, "ROUTING_STRATEGY_INVALID")

    assert body["details"] == {
        "routing_strategy": strategy,
        "available": ["priority", "load_balance", "least_loaded", "fastest_response"],
    }


# Filters


def test_decision_version_filter_matches_exactly(viewer_api):
    create_registration("One", version="1.0.0")
    create_registration("Two", version="2.0.0")
    decision = get_decision(viewer_api, version="2.0.0")

    assert [provider["agent_name"] for provider in decision["providers"]] == ["Two"]
    assert (decision["total_providers"], decision["healthy_providers"]) == (1, 1)
    assert get_decision(viewer_api, version="2")["total_providers"] == 0


@pytest.fixture
def providers_in_every_state(db):
    create_registration("Healthy", priority=1)
    create_registration("Degraded", priority=1, status=Status.DEGRADED)
    create_registration("Unknown", priority=1, status=Status.UNKNOWN)
    create_registration("Offline", priority=40, status=Status.OFFLINE)
    create_registration("Inactive", priority=30, desired_state="inactive")
    create_registration("Draining", priority=20, desired_state="draining")


def test_providers_without_traffic_are_left_out(viewer_api, providers_in_every_state):
    decision = get_decision(viewer_api)

    names = [provider["agent_name"] for provider in decision["providers"]]
    assert names == ["Healthy", "Unknown", "Degraded"]
    assert (decision["total_providers"], decision["healthy_providers"]) == (6, 1)


@pytest.mark.parametrize(
    "strategy", ["priority", "load_balance", "least_loaded", "fastest_response"]
)
def test_include_unhealthy_lists_providers_without_traffic_last(
    viewer_api, providers_in_every_state, strategy
):
    query = {"routing_strategy": strategy, "include_unhealthy": "true"}
    providers = get_decision(viewer_api, **query)["providers"]

    assert {provider["agent_name"] for provider in providers[:3]} == {
        "Healthy",
        "Unknown",
        "Degraded",
    }
    last = [(provider["agent_name"], provider["status"]) for provider in providers[3:]]
    assert last == [
        ("Offline", "unhealthy"),
        ("Inactive", "inactive"),
        ("Draining", "draining"),
    ]
    assert {provider["routing_score"] for provider in providers[3:]} == {0}


def test_provider_health_is_independent_of_status(viewer_api, providers_in_every_state):
    providers = get_decision(viewer_api, include_unhealthy="true")["providers"]

    assert {
        provider["agent_name"]: provider["health"]["status"] for provider in providers
    } == {
        "Healthy": "healthy",
        "Degraded": "degraded",
        "Unknown": "unknown",
        "Offline": "unhealthy",
        "Inactive": "healthy",
        "Draining": "healthy",
    }


@pytest.mark.parametrize("desired_state", ["active", "inactive", "draining"])
def test_unhealthy_providers_give_empty_list_with_totals(viewer_api, desired_state):
    create_registration("Offline", status=Status.OFFLINE, desired_state=desired_state)

    assert get_decision(viewer_api) == {
        "capability": "data-analysis",
        "providers": [],
        "routing_strategy": "priority",
        "total_providers": 1,
        "healthy_providers": 0,
    }


# Unknown capabilities


def test_unknown_capability_returns_404_with_suggestions(viewer_api):
    for name in ("web-search", "data-analysis", "data-processing"):
        RegistrationFactory(capability=name)
    response = request_decision(viewer_api, "data-analysys")
    body = assert_error_response(response, 404, "CAPABILITY_NOT_FOUND")

    assert body["details"] == {
        "capability": "data-analysys",
        "available_capabilities": ["data-analysis", "data-processing", "web-search"],
    }


def test_suggestions_are_unique_and_at_most_twenty(viewer_api):
    for n in range(25):
        RegistrationFactory(capability=f"capability-{n:02}")
    RegistrationFactory(capability="zebra-counting")
    RegistrationFactory(capability="zebra-counting")
    names = request_decision(viewer_api, "zebra-countin").json()["details"][
        "available_capabilities"
    ]

    assert (len(names), names[0]) == (20, "zebra-counting")
    assert len(set(names)) == 20


def test_closest_name_is_suggested_first_among_thousands(viewer_api):
    entry = CatalogEntryFactory()
    CapabilityRegistration.objects.bulk_create(
        CapabilityRegistration(entry=entry, capability=name)
        for name in [*(f"aaaa-{n}" for n in range(2500)), "capability-77", "zebra"]
    )
    names = request_decision(viewer_api, "capability-78").json()["details"][
        "available_capabilities"
    ]

    assert (names[0], len(names)) == ("capability-77", 20)


def test_empty_registry_suggests_no_names(viewer_api):
    body = assert_error_response(
        request_decision(viewer_api), 404, "CAPABILITY_NOT_FOUND"
    )

    assert body["details"]["available_capabilities"] == []


@pytest.mark.parametrize(
    "name", ["Data-Analysis", "cap-reg-1", "%00", "%FF", "%20", "x" * 3_000, "a::b"]
)
@pytest.mark.parametrize("suffix", ["", "/health"])
def test_invalid_capability_name_returns_404(viewer_api, name, suffix):
    RegistrationFactory()
    response = viewer_api.get(f"{REGISTRY_URL}/{name}{suffix}")

    assert_error_response(response, 404, "CAPABILITY_NOT_FOUND")


# HTTP


def test_decision_response_is_not_cacheable(viewer_api):
    create_registration("A")
    response = request_decision(viewer_api)

    assert response["Cache-Control"] == "no-store"
    assert not response.has_header("ETag")


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("strategy=priority", "strategy"),
        ("limit=1", "limit"),
        ("include_unhealthy=yes", "include_unhealthy"),
        ("peek=1", "peek"),
        ("peek=true&peek=true", "peek"),
        ("include_metadata=true", "include_metadata"),
        ("version=%00", "version"),
        ("metadata_filter=%00", "metadata_filter"),
        ("version=%00&routing_strategy=load_balance", "version"),
    ],
)
def test_decision_with_invalid_parameter_returns_400_with_its_name(
    viewer_api, query, parameter
):
    create_registration("A")
    response = viewer_api.get(f"{REGISTRY_URL}/data-analysis?{query}")
    body = assert_error_response(response, 400, "INVALID_PARAMETER")

    assert body["details"] == {"parameter": parameter}

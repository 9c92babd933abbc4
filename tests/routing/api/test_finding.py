"""GET /capabilities/{capability}: the routing decision."""

import json
from collections import Counter
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.utils import timezone

from catalog.health import status as health
from catalog.health.history import start_of_hour
from catalog.models import Status
from routing import health_checks, rotation, service
from routing.models import CapabilityRegistration, RoutingCounter
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory
from tests.probes import failure, success
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db

REGISTRY = "/api/v1/registry/capabilities"


def request_decision(client, capability: str = "data-analysis", **query):
    return client.get(f"{REGISTRY}/{capability}?{urlencode(query)}")


def get_decision(client, **query) -> dict:
    response = request_decision(client, **query)
    assert response.status_code == 200, response.json()
    return response.json()


def get_agent_names(client, **query) -> list[str]:
    """Return the names of the providers in routing order."""
    return [
        provider["agent_name"]
        for provider in get_decision(client, **query)["providers"]
    ]


def create_provider(agent_name: str, load: float | None = None, **members):
    """Create a registration whose load is reported later by `send_reports`.

    A load that was not reported is too old to count.
    """
    registration = RegistrationFactory(entry__display_name=agent_name, **members)
    registration.report = {"load_score": load}
    return registration


def send_reports(client, *registrations):
    for registration in registrations:
        url = f"{REGISTRY}/{registration.pk}/reports"
        assert client.post(url, registration.report, format="json").status_code == 204


# Strategies


@pytest.fixture
def three_providers(editor):
    """Create providers of which each is first by another strategy."""
    providers = [
        create_provider("Preferred", 0.4, priority=100, response_time_avg_ms=900),
        create_provider("LeastLoaded", 0.1, priority=50, response_time_avg_ms=800),
        create_provider("Fast", 0.5, priority=50, response_time_avg_ms=100),
    ]
    send_reports(editor, *providers)


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("priority", ["Preferred", "LeastLoaded", "Fast"]),
        ("least_loaded", ["LeastLoaded", "Preferred", "Fast"]),
        ("fastest_response", ["Fast", "LeastLoaded", "Preferred"]),
    ],
)
def test_strategy_orders_providers_by_score(
    viewer, three_providers, strategy, expected
):
    decision = get_decision(viewer, routing_strategy=strategy)

    assert [provider["agent_name"] for provider in decision["providers"]] == expected
    assert decision["routing_strategy"] == strategy
    scores = [provider["routing_score"] for provider in decision["providers"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("query", [{}, {"routing_strategy": ""}], ids=str)
def test_routing_strategy_defaults_to_priority(viewer, three_providers, query):
    decision = get_decision(viewer, **query)

    assert decision["routing_strategy"] == "priority"
    scores = [provider["routing_score"] for provider in decision["providers"]]
    assert scores == [60.0, 45.0, 25.0]


@pytest.mark.parametrize(
    ("state", "score"),
    [(Status.ACTIVE, 50), (Status.UNKNOWN, 40), (Status.DEGRADED, 25)],
)
def test_routing_score_is_lower_for_poorer_health(viewer, state, score):
    RegistrationFactory(entry__status=state)

    assert get_decision(viewer)["providers"][0]["routing_score"] == score


def test_fastest_response_puts_provider_without_response_time_last(viewer):
    create_provider("Unmeasured", priority=1000)
    create_provider("Slow", response_time_avg_ms=60_000)

    assert get_agent_names(viewer, routing_strategy="fastest_response") == [
        "Slow",
        "Unmeasured",
    ]


def test_ties_are_broken_by_priority_load_and_name(viewer, editor):
    providers = [
        create_provider("Zoe", 1.0, priority=10),
        create_provider("Ben", 1.0, priority=20),
        create_provider("Ann", 1.0, priority=10),
        create_provider("Low", 0.5, priority=0),
    ]
    send_reports(editor, *providers)

    assert get_agent_names(viewer) == ["Ben", "Ann", "Zoe", "Low"]


def test_load_balance_picks_in_proportion_to_weight(viewer):
    create_provider("Twice", priority=200)
    create_provider("Once", priority=100)
    strategy = {"routing_strategy": "load_balance"}
    counts = Counter(get_agent_names(viewer, **strategy)[0] for _ in range(30))

    assert counts["Twice"] in (19, 20, 21)
    assert counts.total() == 30


def test_load_balance_orders_remaining_providers_by_weight(viewer):
    for name, priority in (("A", 30), ("B", 20), ("C", 10)):
        create_provider(name, priority=priority)
    orders = [
        get_agent_names(viewer, routing_strategy="load_balance") for _ in range(12)
    ]

    assert {tuple(names[1:]) for names in orders} == {
        ("B", "C"),
        ("A", "C"),
        ("A", "B"),
    }


def get_first_picks(client, times: int, **query) -> list[str]:
    query = {"routing_strategy": "load_balance"} | query
    return [get_agent_names(client, **query)[0] for _ in range(times)]


def test_peek_returns_next_pick_without_advancing_rotation(viewer):
    for name in "ABC":
        create_provider(name)
    rounds = [
        (set(get_first_picks(viewer, 3, peek="true")), get_first_picks(viewer, 1))
        for _ in range(9)
    ]

    assert all(peeked == set(picked) for peeked, picked in rounds)
    assert Counter(picked for _, (picked,) in rounds) == {"A": 3, "B": 3, "C": 3}


def test_only_load_balance_without_peek_advances_rotation(viewer, settings):
    settings.REDIS_URL = ""
    create_provider("A")
    for strategy in ("priority", "least_loaded", "fastest_response"):
        get_decision(viewer, routing_strategy=strategy)
    get_decision(viewer, routing_strategy="load_balance", peek="true")

    assert not RoutingCounter.objects.exists()


def test_rotation_counts_each_capability_and_version_separately(viewer, settings):
    settings.REDIS_URL = ""
    create_provider("A", version="2.0.0")
    get_first_picks(viewer, 2)
    get_first_picks(viewer, 3, version="2.0.0")

    counters = dict(RoutingCounter.objects.values_list("key", "value"))
    assert counters == {"data-analysis:": 2, "data-analysis:2.0.0": 3}


@pytest.mark.parametrize("version", ["9.9.9", "9" * 500], ids=["short", "long"])
@pytest.mark.parametrize("redis", [False, True], ids=["database", "configured"])
def test_unknown_version_does_not_advance_rotation(viewer, settings, version, redis):
    settings.REDIS_URL = settings.REDIS_URL if redis else ""
    create_provider("A")
    decision = get_decision(viewer, routing_strategy="load_balance", version=version)

    assert (decision["providers"], decision["total_providers"]) == ([], 0)
    assert not RoutingCounter.objects.exists()


@pytest.mark.parametrize("strategy", ["round_robin", "Priority", "broadcast"])
def test_unknown_strategy_returns_422(viewer, strategy):
    create_provider("A")
    response = request_decision(viewer, routing_strategy=strategy)
    body = assert_error_response(response, 422, "ROUTING_STRATEGY_INVALID")

    assert body["details"] == {
        "routing_strategy": strategy,
        "available": ["priority", "load_balance", "least_loaded", "fastest_response"],
    }


# Filters


def test_version_filter_matches_exactly(viewer):
    create_provider("One", version="1.0.0")
    create_provider("Two", version="2.0.0")
    decision = get_decision(viewer, version="2.0.0")

    assert [provider["agent_name"] for provider in decision["providers"]] == ["Two"]
    assert (decision["total_providers"], decision["healthy_providers"]) == (1, 1)
    assert get_decision(viewer, version="2")["total_providers"] == 0


@pytest.fixture
def providers_in_every_state(db):
    create_provider("Healthy", priority=1)
    create_provider("Degraded", priority=1, entry__status=Status.DEGRADED)
    create_provider("Unknown", priority=1, entry__status=Status.UNKNOWN)
    create_provider("Offline", priority=40, entry__status=Status.OFFLINE)
    create_provider("Inactive", priority=30, intent="inactive")
    create_provider("Draining", priority=20, intent="draining")


def test_providers_without_traffic_are_left_out(viewer, providers_in_every_state):
    decision = get_decision(viewer)

    names = [provider["agent_name"] for provider in decision["providers"]]
    assert names == ["Healthy", "Unknown", "Degraded"]
    assert (decision["total_providers"], decision["healthy_providers"]) == (6, 1)


@pytest.mark.parametrize(
    "strategy", ["priority", "load_balance", "least_loaded", "fastest_response"]
)
def test_include_unhealthy_lists_providers_without_traffic_last(
    viewer, providers_in_every_state, strategy
):
    query = {"routing_strategy": strategy, "include_unhealthy": "true"}
    providers = get_decision(viewer, **query)["providers"]

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


def test_provider_health_is_independent_of_status(viewer, providers_in_every_state):
    providers = get_decision(viewer, include_unhealthy="true")["providers"]

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


@pytest.mark.parametrize("intent", ["active", "inactive", "draining"])
def test_unhealthy_providers_give_empty_list_with_totals(viewer, intent):
    create_provider("Offline", entry__status=Status.OFFLINE, intent=intent)

    assert get_decision(viewer) == {
        "capability": "data-analysis",
        "providers": [],
        "routing_strategy": "priority",
        "total_providers": 1,
        "healthy_providers": 0,
    }


# Metadata filter

METADATA = {
    "formats": ["csv", "json", 1, True, ["a"], {"b": 1}],
    "size": "10MB",
    "count": 1,
    "share": 0.5,
    "fast": True,
    "nothing": None,
    "empty": [],
    "limits": {"cpu": 2},
}
MATCHING_FILTERS = [
    {},
    {"size": "10MB"},
    {"count": 1},
    {"count": 1.0},
    {"share": 0.5},
    {"fast": True},
    {"nothing": None},
    {"formats": "csv"},
    {"formats": ["csv"]},
    {"formats": ["json", "csv"]},
    {"formats": []},
    {"formats": 1},
    {"formats": True},
    {"formats": [["a"]]},
    {"formats": {"b": 1}},
    {"empty": []},
    {"limits": {"cpu": 2}},
    {"size": "10MB", "formats": "json", "fast": True},
]
NON_MATCHING_FILTERS = [
    {"size": "10mb"},
    {"size": "10"},
    {"count": "1"},
    {"count": True},
    {"fast": 1},
    {"fast": "true"},
    {"nothing": False},
    {"missing": None},
    {"missing": []},
    {"formats": "xml"},
    {"formats": ["csv", "xml"]},
    {"formats": "cs"},
    {"formats": ["a"]},
    {"empty": ["a"]},
    {"empty": "a"},
    {"size": ["10MB"]},
    {"limits": {}},
    {"limits": {"cpu": 2, "gpu": 1}},
    {"size": "10MB", "formats": "xml"},
    {"Size": "10MB"},
]


@pytest.mark.parametrize("metadata_filter", MATCHING_FILTERS, ids=json.dumps)
def test_metadata_filter_matches(viewer, metadata_filter):
    create_provider("A", metadata=METADATA)

    assert get_agent_names(viewer, metadata_filter=json.dumps(metadata_filter)) == ["A"]


@pytest.mark.parametrize("metadata_filter", NON_MATCHING_FILTERS, ids=json.dumps)
def test_metadata_filter_does_not_match(viewer, metadata_filter):
    create_provider("A", metadata=METADATA)

    assert get_agent_names(viewer, metadata_filter=json.dumps(metadata_filter)) == []


def test_metadata_filter_distinguishes_one_and_true_in_nested_object(viewer):
    create_provider("A", metadata={"limits": {"gpu": True}})

    assert get_agent_names(viewer, metadata_filter='{"limits": {"gpu": 1}}') == []


def test_totals_count_matching_providers_regardless_of_health(viewer):
    create_provider("Healthy", metadata={"a": 1})
    create_provider("Offline", metadata={"a": 1}, entry__status=Status.OFFLINE)
    create_provider("Other", metadata={"a": 2})
    decision = get_decision(viewer, metadata_filter='{"a": 1}')

    assert [provider["agent_name"] for provider in decision["providers"]] == ["Healthy"]
    assert (decision["total_providers"], decision["healthy_providers"]) == (2, 1)


def test_empty_metadata_filter_is_ignored(viewer):
    create_provider("A")

    assert get_agent_names(viewer, metadata_filter="") == ["A"]


INVALID_FILTERS = ["{", "csv", "[]", "null", '"a"', "1", "true", "{'a': 1}"]
INVALID_FILTERS += ['{"a": NaN}', '{"a": Infinity}', '{"a": 1e999}', "[" * 5_000]
INVALID_FILTERS += ['{"a": 1, "a": 2}', '{"a": "\\u0000"}', '{"a": "\\ud800"}']
INVALID_FILTERS += ['{"a":' * 5_000 + "1" + "}" * 5_000, '{"a": ' + "9" * 5_000 + "}"]


@pytest.mark.parametrize("text", INVALID_FILTERS, ids=lambda text: ascii(text)[:20])
def test_invalid_metadata_filter_returns_422(viewer, text):
    create_provider("A")
    response = request_decision(viewer, metadata_filter=text)

    assert_error_response(response, 422, "METADATA_FILTER_INVALID")


# Unknown capabilities


def test_unknown_capability_returns_404_with_suggestions(viewer):
    for name in ("web-search", "data-analysis", "data-processing"):
        RegistrationFactory(capability=name)
    response = request_decision(viewer, "data-analysys")
    body = assert_error_response(response, 404, "CAPABILITY_NOT_FOUND")

    assert body["details"] == {
        "capability": "data-analysys",
        "available_capabilities": ["data-analysis", "data-processing", "web-search"],
    }


def test_suggestions_are_unique_and_at_most_twenty(viewer):
    for n in range(25):
        RegistrationFactory(capability=f"capability-{n:02}")
    RegistrationFactory(capability="zebra-counting")
    RegistrationFactory(capability="zebra-counting")
    names = request_decision(viewer, "zebra-countin").json()["details"][
        "available_capabilities"
    ]

    assert (len(names), names[0]) == (20, "zebra-counting")
    assert len(set(names)) == 20


def test_closest_name_is_suggested_first_among_thousands(viewer):
    entry = CatalogEntryFactory()
    CapabilityRegistration.objects.bulk_create(
        CapabilityRegistration(entry=entry, capability=name)
        for name in [*(f"aaaa-{n}" for n in range(2500)), "capability-77", "zebra"]
    )
    names = request_decision(viewer, "capability-78").json()["details"][
        "available_capabilities"
    ]

    assert (names[0], len(names)) == ("capability-77", 20)


def test_empty_registry_suggests_no_names(viewer):
    body = assert_error_response(request_decision(viewer), 404, "CAPABILITY_NOT_FOUND")

    assert body["details"]["available_capabilities"] == []


@pytest.mark.parametrize(
    "name", ["Data-Analysis", "cap-reg-1", "%00", "%FF", "%20", "x" * 3_000, "a::b"]
)
@pytest.mark.parametrize("suffix", ["", "/health"])
def test_invalid_capability_name_returns_404(viewer, name, suffix):
    RegistrationFactory()
    response = viewer.get(f"{REGISTRY}/{name}{suffix}")

    assert_error_response(response, 404, "CAPABILITY_NOT_FOUND")


# Performance metrics


def test_success_rate_comes_from_probes_until_callers_report(viewer):
    registration = create_provider("A")
    this_hour = start_of_hour(timezone.now())
    health.record_probe(registration.entry, failure(this_hour - timedelta(hours=2)))
    for minutes in (3, 2, 1):
        health.record_probe(
            registration.entry, success(at=this_hour - timedelta(minutes=minutes))
        )
    metrics = get_decision(viewer)["providers"][0]["performance_metrics"]

    assert (metrics["success_rate"], metrics["error_rate"]) == (0.5, 0.5)
    assert (metrics["uptime_percentage"], metrics["consecutive_failures"]) == (50.0, 0)


def get_uptime(client):
    (provider,) = get_decision(client)["providers"]
    return provider["performance_metrics"]["uptime_percentage"]


def test_uptime_covers_last_24_hours(viewer):
    registration = create_provider("A")
    this_hour = start_of_hour(timezone.now())
    health.record_probe(registration.entry, failure(this_hour - timedelta(hours=25)))
    assert get_uptime(viewer) is None
    health.record_probe(registration.entry, success(at=this_hour - timedelta(hours=22)))
    assert get_uptime(viewer) == 100.0
    health.record_probe(registration.entry, failure(this_hour - timedelta(hours=1)))
    assert get_uptime(viewer) == 50.0


def test_uptime_weighs_current_hour_by_elapsed_time(viewer):
    registration = create_provider("A")
    now = timezone.now()
    for hours in range(1, 10):
        health.record_probe(
            registration.entry, success(at=start_of_hour(now) - timedelta(hours=hours))
        )
    health.record_probe(registration.entry, failure(now))
    elapsed = max(60, (now - start_of_hour(now)).total_seconds()) / 3600

    assert get_uptime(viewer) == pytest.approx(100 * 9 / (9 + elapsed), abs=0.1)


def test_uptime_weighs_hour_a_day_ago_by_remaining_time(viewer):
    registration = create_provider("A")
    now = timezone.now()
    health.record_probe(
        registration.entry, failure(start_of_hour(now) - timedelta(hours=24))
    )
    assert get_uptime(viewer) == 0.0
    health.record_probe(
        registration.entry, success(at=start_of_hour(now) - timedelta(hours=1))
    )
    remaining = max(60, 3600 - (now - start_of_hour(now)).total_seconds()) / 3600

    assert get_uptime(viewer) == pytest.approx(100 / (1 + remaining), abs=0.1)


def test_uptime_with_own_health_check_ignores_agent_probes(viewer):
    registration = service.register(
        CatalogEntryFactory(), "data-analysis", health_check_url="/health"
    )
    this_hour = start_of_hour(timezone.now())
    health.record_probe(registration.entry, success(at=this_hour - timedelta(hours=2)))
    health_checks.record_probe(registration, failure(this_hour - timedelta(hours=2)))
    health_checks.record_probe(registration, success(at=this_hour - timedelta(hours=1)))

    assert get_uptime(viewer) == 50.0


def test_head_request_does_not_advance_rotation(viewer):
    create_provider("A")
    before = request_decision(
        viewer, routing_strategy="load_balance", peek="true"
    ).json()
    for _ in range(3):
        viewer.head(f"{REGISTRY}/data-analysis?routing_strategy=load_balance")

    assert (
        request_decision(viewer, routing_strategy="load_balance", peek="true").json()
        == before
    )
    assert rotation.peek_turn("data-analysis") == 1


def test_decision_and_list_show_same_performance_metrics(viewer, editor):
    registration = create_provider("A", 0.4)
    send_reports(editor, registration)
    health.record_probe(registration.entry, success(1234))
    capability_list = viewer.get(f"{REGISTRY}?include_metadata=true").json()

    listed_metrics = capability_list["capabilities"][0]["providers"][0][
        "performance_metrics"
    ]
    assert get_decision(viewer)["providers"][0]["performance_metrics"] == listed_metrics


# HTTP


def test_decision_response_is_not_cacheable(viewer):
    create_provider("A")
    response = request_decision(viewer)

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
def test_invalid_parameter_returns_400_with_its_name(viewer, query, parameter):
    create_provider("A")
    response = viewer.get(f"{REGISTRY}/data-analysis?{query}")
    body = assert_error_response(response, 400, "INVALID_PARAMETER")

    assert body["details"] == {"parameter": parameter}

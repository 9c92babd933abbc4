"""GET /capabilities/{capability}: who takes the next request."""

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
from tests.probes import failed, well
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db

REGISTRY = "/api/v1/registry/capabilities"


def ask(client, capability: str = "data-analysis", **query):
    return client.get(f"{REGISTRY}/{capability}?{urlencode(query)}")


def find(client, **query) -> dict:
    answer = ask(client, **query)
    assert answer.status_code == 200, answer.json()
    return answer.json()


def order(client, **query) -> list[str]:
    return [one["agent_name"] for one in find(client, **query)["providers"]]


def offer(agent_name: str, load: float | None = None, **members):
    """A provider; its load is reported, for else it would be too old to count."""
    made = RegistrationFactory(entry__display_name=agent_name, **members)
    made.reported = {"load_score": load}
    return made


def report(client, *registrations):
    for one in registrations:
        place = f"{REGISTRY}/{one.pk}/reports"
        assert client.post(place, one.reported, format="json").status_code == 204


# Strategies


@pytest.fixture
def three(editor):
    """Each of them is first by another strategy."""
    providers = [
        offer("Important", 0.4, priority=100, response_time_avg_ms=900),
        offer("Idle", 0.1, priority=50, response_time_avg_ms=800),
        offer("Quick", 0.5, priority=50, response_time_avg_ms=100),
    ]
    report(editor, *providers)


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("priority", ["Important", "Idle", "Quick"]),
        ("least_loaded", ["Idle", "Important", "Quick"]),
        ("fastest_response", ["Quick", "Idle", "Important"]),
    ],
)
def test_a_strategy_gives_its_order(viewer, three, strategy, expected):
    told = find(viewer, routing_strategy=strategy)

    assert [one["agent_name"] for one in told["providers"]] == expected
    assert told["routing_strategy"] == strategy
    scores = [one["routing_score"] for one in told["providers"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("query", [{}, {"routing_strategy": ""}], ids=str)
def test_priority_is_the_default(viewer, three, query):
    told = find(viewer, **query)

    assert told["routing_strategy"] == "priority"
    scores = [one["routing_score"] for one in told["providers"]]
    assert scores == [60.0, 45.0, 25.0]


@pytest.mark.parametrize(
    ("state", "score"),
    [(Status.ACTIVE, 50), (Status.UNKNOWN, 40), (Status.DEGRADED, 25)],
)
def test_a_score_is_less_for_poorer_health(viewer, state, score):
    RegistrationFactory(entry__status=state)

    assert find(viewer)["providers"][0]["routing_score"] == score


def test_who_has_no_response_time_comes_last(viewer):
    offer("Silent", priority=1000)
    offer("Slow", response_time_avg_ms=60_000)

    assert order(viewer, routing_strategy="fastest_response") == ["Slow", "Silent"]


def test_ties_are_broken_by_priority_then_load_then_name(viewer, editor):
    providers = [
        offer("Zoe", 1.0, priority=10),
        offer("Ben", 1.0, priority=20),
        offer("Ann", 1.0, priority=10),
        offer("Low", 0.5, priority=0),
    ]
    report(editor, *providers)

    assert order(viewer) == ["Ben", "Ann", "Zoe", "Low"]


def test_a_balanced_choice_is_shared_in_proportion_to_weight(viewer):
    offer("Twice", priority=200)
    offer("Once", priority=100)
    strategy = {"routing_strategy": "load_balance"}
    picks = Counter(order(viewer, **strategy)[0] for _ in range(30))

    assert picks["Twice"] in (19, 20, 21)
    assert picks.total() == 30


def test_after_the_choice_the_rest_come_by_weight(viewer):
    for name, priority in (("A", 30), ("B", 20), ("C", 10)):
        offer(name, priority=priority)
    orders = [order(viewer, routing_strategy="load_balance") for _ in range(12)]

    assert {tuple(names[1:]) for names in orders} == {
        ("B", "C"),
        ("A", "C"),
        ("A", "B"),
    }


def picks(client, times: int, **query) -> list[str]:
    query = {"routing_strategy": "load_balance"} | query
    return [order(client, **query)[0] for _ in range(times)]


def test_peeking_tells_the_next_choice_and_leaves_it_there(viewer):
    for name in "ABC":
        offer(name)
    told = [(set(picks(viewer, 3, peek="true")), picks(viewer, 1)) for _ in range(9)]

    assert all(peeked == set(taken) for peeked, taken in told)
    assert Counter(taken for _, (taken,) in told) == {"A": 3, "B": 3, "C": 3}


def test_only_a_balanced_choice_moves_on(viewer, settings):
    settings.REDIS_URL = ""
    offer("A")
    for strategy in ("priority", "least_loaded", "fastest_response"):
        find(viewer, routing_strategy=strategy)
    find(viewer, routing_strategy="load_balance", peek="true")

    assert not RoutingCounter.objects.exists()


def test_each_capability_and_version_has_its_own_turn(viewer, settings):
    settings.REDIS_URL = ""
    offer("A", version="2.0.0")
    picks(viewer, 2)
    picks(viewer, 3, version="2.0.0")

    turns = dict(RoutingCounter.objects.values_list("key", "value"))
    assert turns == {"data-analysis:": 2, "data-analysis:2.0.0": 3}


@pytest.mark.parametrize("version", ["9.9.9", "9" * 500], ids=["short", "endless"])
@pytest.mark.parametrize("redis", [False, True], ids=["database", "as it runs"])
def test_a_version_nobody_offers_takes_no_turn(viewer, settings, version, redis):
    settings.REDIS_URL = settings.REDIS_URL if redis else ""
    offer("A")
    told = find(viewer, routing_strategy="load_balance", version=version)

    assert (told["providers"], told["total_providers"]) == ([], 0)
    assert not RoutingCounter.objects.exists()


@pytest.mark.parametrize("strategy", ["round_robin", "Priority", "broadcast"])
def test_an_unknown_strategy_is_refused(viewer, strategy):
    offer("A")
    answer = ask(viewer, routing_strategy=strategy)
    body = assert_error_response(answer, 422, "ROUTING_STRATEGY_INVALID")

    assert body["details"] == {
        "routing_strategy": strategy,
        "available": ["priority", "load_balance", "least_loaded", "fastest_response"],
    }


# Who is shown


def test_a_version_is_asked_for_exactly(viewer):
    offer("One", version="1.0.0")
    offer("Two", version="2.0.0")
    told = find(viewer, version="2.0.0")

    assert [one["agent_name"] for one in told["providers"]] == ["Two"]
    assert (told["total_providers"], told["healthy_providers"]) == (1, 1)
    assert find(viewer, version="2")["total_providers"] == 0


@pytest.fixture
def mixed(db):
    offer("Well", priority=1)
    offer("Poor", priority=1, entry__status=Status.DEGRADED)
    offer("New", priority=1, entry__status=Status.UNKNOWN)
    offer("Gone", priority=40, entry__status=Status.OFFLINE)
    offer("Resting", priority=30, intent="inactive")
    offer("Leaving", priority=20, intent="draining")


def test_only_those_who_take_traffic_are_shown(viewer, mixed):
    told = find(viewer)

    names = [one["agent_name"] for one in told["providers"]]
    assert names == ["Well", "New", "Poor"]
    assert (told["total_providers"], told["healthy_providers"]) == (6, 1)


@pytest.mark.parametrize(
    "strategy", ["priority", "load_balance", "least_loaded", "fastest_response"]
)
def test_the_others_come_last_and_only_when_asked_for(viewer, mixed, strategy):
    query = {"routing_strategy": strategy, "include_unhealthy": "true"}
    providers = find(viewer, **query)["providers"]

    assert {one["agent_name"] for one in providers[:3]} == {"Well", "New", "Poor"}
    aside = [(one["agent_name"], one["status"]) for one in providers[3:]]
    assert aside == [
        ("Gone", "unhealthy"),
        ("Resting", "inactive"),
        ("Leaving", "draining"),
    ]
    assert {one["routing_score"] for one in providers[3:]} == {0}


def test_health_is_told_beside_the_status(viewer, mixed):
    providers = find(viewer, include_unhealthy="true")["providers"]

    assert {one["agent_name"]: one["health"]["status"] for one in providers} == {
        "Well": "healthy",
        "Poor": "degraded",
        "New": "unknown",
        "Gone": "unhealthy",
        "Resting": "healthy",
        "Leaving": "healthy",
    }


@pytest.mark.parametrize("intent", ["active", "inactive", "draining"])
def test_when_nobody_can_take_it_the_answer_is_empty(viewer, intent):
    offer("Gone", entry__status=Status.OFFLINE, intent=intent)

    assert find(viewer) == {
        "capability": "data-analysis",
        "providers": [],
        "routing_strategy": "priority",
        "total_providers": 1,
        "healthy_providers": 0,
    }


# Metadata

STORED = {
    "formats": ["csv", "json", 1, True, ["a"], {"b": 1}],
    "size": "10MB",
    "count": 1,
    "share": 0.5,
    "fast": True,
    "nothing": None,
    "empty": [],
    "limits": {"cpu": 2},
}
FITTING = [
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
NOT_FITTING = [
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


@pytest.mark.parametrize("wanted", FITTING, ids=json.dumps)
def test_metadata_fits(viewer, wanted):
    offer("A", metadata=STORED)

    assert order(viewer, metadata_filter=json.dumps(wanted)) == ["A"]


@pytest.mark.parametrize("wanted", NOT_FITTING, ids=json.dumps)
def test_metadata_does_not_fit(viewer, wanted):
    offer("A", metadata=STORED)

    assert order(viewer, metadata_filter=json.dumps(wanted)) == []


def test_one_and_true_differ_inside_an_object_too(viewer):
    offer("A", metadata={"limits": {"gpu": True}})

    assert order(viewer, metadata_filter='{"limits": {"gpu": 1}}') == []


def test_totals_count_whom_the_metadata_fits_healthy_or_not(viewer):
    offer("Well", metadata={"a": 1})
    offer("Gone", metadata={"a": 1}, entry__status=Status.OFFLINE)
    offer("Other", metadata={"a": 2})
    told = find(viewer, metadata_filter='{"a": 1}')

    assert [one["agent_name"] for one in told["providers"]] == ["Well"]
    assert (told["total_providers"], told["healthy_providers"]) == (2, 1)


def test_an_empty_filter_is_none(viewer):
    offer("A")

    assert order(viewer, metadata_filter="") == ["A"]


NO_FILTERS = ["{", "csv", "[]", "null", '"a"', "1", "true", "{'a': 1}"]
NO_FILTERS += ['{"a": NaN}', '{"a": Infinity}', '{"a": 1e999}', "[" * 5_000]
NO_FILTERS += ['{"a": 1, "a": 2}', '{"a": "\\u0000"}', '{"a": "\\ud800"}']
NO_FILTERS += ['{"a":' * 5_000 + "1" + "}" * 5_000, '{"a": ' + "9" * 5_000 + "}"]


@pytest.mark.parametrize("text", NO_FILTERS, ids=lambda text: ascii(text)[:20])
def test_a_filter_that_is_no_json_object_is_refused(viewer, text):
    offer("A")
    answer = ask(viewer, metadata_filter=text)

    assert_error_response(answer, 422, "METADATA_FILTER_INVALID")


# Nobody


def test_what_nobody_offers_is_not_found_and_names_are_suggested(viewer):
    for name in ("web-search", "data-analysis", "data-processing"):
        RegistrationFactory(capability=name)
    answer = ask(viewer, "data-analysys")
    body = assert_error_response(answer, 404, "CAPABILITY_NOT_FOUND")

    assert body["details"] == {
        "capability": "data-analysys",
        "available_capabilities": ["data-analysis", "data-processing", "web-search"],
    }


def test_at_most_twenty_names_are_suggested_each_once(viewer):
    for n in range(25):
        RegistrationFactory(capability=f"capability-{n:02}")
    RegistrationFactory(capability="zebra-counting")
    RegistrationFactory(capability="zebra-counting")
    names = ask(viewer, "zebra-countin").json()["details"]["available_capabilities"]

    assert (len(names), names[0]) == (20, "zebra-counting")
    assert len(set(names)) == 20


def test_among_thousands_of_names_the_closest_is_still_first(viewer):
    entry = CatalogEntryFactory()
    CapabilityRegistration.objects.bulk_create(
        CapabilityRegistration(entry=entry, capability=name)
        for name in [*(f"aaaa-{n}" for n in range(2500)), "capability-77", "zebra"]
    )
    names = ask(viewer, "capability-78").json()["details"]["available_capabilities"]

    assert (names[0], len(names)) == ("capability-77", 20)


def test_an_empty_registry_suggests_nothing(viewer):
    body = assert_error_response(ask(viewer), 404, "CAPABILITY_NOT_FOUND")

    assert body["details"]["available_capabilities"] == []


@pytest.mark.parametrize(
    "name", ["Data-Analysis", "cap-reg-1", "%00", "%FF", "%20", "x" * 3_000, "a::b"]
)
@pytest.mark.parametrize("place", ["", "/health"])
def test_an_odd_name_is_not_found(viewer, name, place):
    RegistrationFactory()
    answer = viewer.get(f"{REGISTRY}/{name}{place}")

    assert_error_response(answer, 404, "CAPABILITY_NOT_FOUND")


# Figures


def test_until_callers_report_the_probes_of_the_day_tell_how_reliable_it_is(viewer):
    one = offer("A")
    this_hour = start_of_hour(timezone.now())
    health.record_probe(one.entry, failed(this_hour - timedelta(hours=2)))
    for minutes in (3, 2, 1):
        health.record_probe(one.entry, well(at=this_hour - timedelta(minutes=minutes)))
    told = find(viewer)["providers"][0]["performance_metrics"]

    assert (told["success_rate"], told["error_rate"]) == (0.5, 0.5)
    assert (told["uptime_percentage"], told["consecutive_failures"]) == (50.0, 0)


def uptime(client):
    (one,) = find(client)["providers"]
    return one["performance_metrics"]["uptime_percentage"]


def test_uptime_is_of_the_last_day_and_no_longer(viewer):
    one = offer("A")
    this_hour = start_of_hour(timezone.now())
    health.record_probe(one.entry, failed(this_hour - timedelta(hours=25)))
    assert uptime(viewer) is None
    health.record_probe(one.entry, well(at=this_hour - timedelta(hours=22)))
    assert uptime(viewer) == 100.0
    health.record_probe(one.entry, failed(this_hour - timedelta(hours=1)))
    assert uptime(viewer) == 50.0


def test_of_the_hour_that_has_begun_only_so_much_counts(viewer):
    one = offer("A")
    now = timezone.now()
    for hours in range(1, 10):
        health.record_probe(
            one.entry, well(at=start_of_hour(now) - timedelta(hours=hours))
        )
    health.record_probe(one.entry, failed(now))
    begun = max(60, (now - start_of_hour(now)).total_seconds()) / 3600

    assert uptime(viewer) == pytest.approx(100 * 9 / (9 + begun), abs=0.1)


def test_of_the_hour_a_day_ago_only_what_is_left_counts(viewer):
    one = offer("A")
    now = timezone.now()
    health.record_probe(one.entry, failed(start_of_hour(now) - timedelta(hours=24)))
    assert uptime(viewer) == 0.0
    health.record_probe(one.entry, well(at=start_of_hour(now) - timedelta(hours=1)))
    left = max(60, 3600 - (now - start_of_hour(now)).total_seconds()) / 3600

    assert uptime(viewer) == pytest.approx(100 / (1 + left), abs=0.1)


def test_with_a_check_of_its_own_its_uptime_is_its_own(viewer):
    one = service.register(
        CatalogEntryFactory(), "data-analysis", health_check_url="/health"
    )
    this_hour = start_of_hour(timezone.now())
    health.record_probe(one.entry, well(at=this_hour - timedelta(hours=2)))
    health_checks.record_probe(one, failed(this_hour - timedelta(hours=2)))
    health_checks.record_probe(one, well(at=this_hour - timedelta(hours=1)))

    assert uptime(viewer) == 50.0


def test_asking_for_the_headers_alone_is_no_request(viewer):
    offer("A")
    before = ask(viewer, routing_strategy="load_balance", peek="true").json()
    for _ in range(3):
        viewer.head(f"{REGISTRY}/data-analysis?routing_strategy=load_balance")

    assert ask(viewer, routing_strategy="load_balance", peek="true").json() == before
    assert rotation.peek_turn("data-analysis") == 1


def test_a_provider_has_the_same_figures_here_and_in_the_list(viewer, editor):
    one = offer("A", 0.4)
    report(editor, one)
    health.record_probe(one.entry, well(1234))
    listed = viewer.get(f"{REGISTRY}?include_metadata=true").json()

    figures = listed["capabilities"][0]["providers"][0]["performance_metrics"]
    assert find(viewer)["providers"][0]["performance_metrics"] == figures


# On the wire


def test_a_decision_is_never_kept(viewer):
    offer("A")
    answer = ask(viewer)

    assert answer["Cache-Control"] == "no-store"
    assert not answer.has_header("ETag")


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
def test_a_bad_parameter_is_refused_and_named(viewer, query, parameter):
    offer("A")
    answer = viewer.get(f"{REGISTRY}/data-analysis?{query}")
    body = assert_error_response(answer, 400, "INVALID_PARAMETER")

    assert body["details"] == {"parameter": parameter}

"""How capabilities are: one, and all."""

from datetime import timedelta

import pytest
from django.utils import timezone

from catalog.health import status as health
from catalog.models import Status
from routing import health_checks, service
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory
from tests.probes import failed, well
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db

REGISTRY = "/api/v1/registry/capabilities"
WELL, POOR, NEW = Status.ACTIVE, Status.DEGRADED, Status.UNKNOWN
GONE, GIVEN_UP = Status.OFFLINE, Status.DEPRECATED


def health_of(client, capability: str = "data-analysis") -> dict:
    return client.get(f"{REGISTRY}/{capability}/health").json()


def everything(client, query: str = "") -> dict:
    return client.get(f"{REGISTRY}/health?{query}").json()


def provider_of(client, registration) -> dict:
    told = health_of(client)["providers"]
    return next(one for one in told if one["agent_id"] == registration.agent_id)


def offer(capability: str, *states: str) -> None:
    for state in states:
        RegistrationFactory(capability=capability, entry__status=state)


def offer_with_check(**members):
    return service.register(
        CatalogEntryFactory(**members), "data-analysis", health_check_url="/health"
    )


# One


@pytest.mark.parametrize(
    ("states", "overall"),
    [
        # The four situations of the seed.
        ([WELL, WELL, GONE], "healthy"),
        ([WELL, WELL], "healthy"),
        ([WELL, GONE], "degraded"),
        ([GONE], "unhealthy"),
        # Between them.
        ([WELL], "healthy"),
        ([WELL, GONE, GONE], "degraded"),
        ([GONE, GONE, GIVEN_UP], "unhealthy"),
        ([WELL] * 4 + [GONE] * 2, "healthy"),
        ([WELL] * 3 + [GONE] * 2, "degraded"),
        ([POOR], "unhealthy"),
        ([NEW], "unhealthy"),
        ([POOR, GONE], "unhealthy"),
        ([WELL, POOR], "degraded"),
        ([WELL, WELL, POOR], "healthy"),
    ],
)
def test_two_thirds_that_are_well_are_enough(viewer, states, overall):
    offer("data-analysis", *states)
    told = health_of(viewer)
    (listed,) = everything(viewer)["capabilities"]

    assert told["overall_health"] == listed["health"] == overall
    assert told["healthy_providers"] == listed["healthy_providers"]
    assert told["healthy_providers"] == states.count(WELL)
    assert told["total_providers"] == listed["total_providers"] == len(states)


@pytest.mark.parametrize("intent", ["inactive", "draining"])
def test_who_is_set_aside_is_counted_and_never_healthy(viewer, intent):
    RegistrationFactory()
    RegistrationFactory(intent=intent)
    told = health_of(viewer)

    assert (told["healthy_providers"], told["total_providers"]) == (1, 2)
    assert told["overall_health"] == "degraded"
    assert everything(viewer)["capabilities"][0]["health"] == "degraded"


def test_a_capability_whose_providers_are_all_set_aside_is_unhealthy(viewer):
    RegistrationFactory(intent="inactive")

    assert health_of(viewer)["overall_health"] == "unhealthy"
    assert everything(viewer)["overall_health"] == "unhealthy"


def test_a_provider_that_is_well_is_told_without_errors(viewer):
    one = RegistrationFactory()
    health.record_probe(one.entry, well(440))

    told = provider_of(viewer, one)
    last_check = told.pop("last_check")
    assert last_check.endswith("Z")
    assert told == {
        "agent_id": one.agent_id,
        "agent_name": one.entry.display_name,
        "status": "healthy",
        "response_time": "0.4s",
        "success_rate": 1.0,
    }


def test_a_provider_never_asked_has_nothing_to_tell(viewer):
    one = RegistrationFactory(entry__status=NEW)

    assert provider_of(viewer, one) == {
        "agent_id": one.agent_id,
        "agent_name": one.entry.display_name,
        "status": "unknown",
        "last_check": None,
        "response_time": None,
        "success_rate": None,
    }


def test_a_provider_that_failed_once_is_degraded_and_says_why(viewer):
    one = RegistrationFactory()
    health.record_probe(one.entry, well())
    health.record_probe(one.entry, failed(error="HTTP 503"))

    told = provider_of(viewer, one)
    assert (told["status"], told["error"]) == ("degraded", "HTTP 503")
    assert told["consecutive_failures"] == 1
    assert told["code"] == "HEALTH_CHECK_FAILED"


def test_three_failures_in_a_row_are_unhealthy_and_one_answer_is_well_again(viewer):
    one = offer_with_check()
    seen = []
    for probe in (well(), failed(), failed(), failed(), well()):
        health_checks.record_probe(one, probe)
        seen.append(provider_of(viewer, one)["status"])

    assert seen == ["healthy", "degraded", "degraded", "unhealthy", "healthy"]
    assert "error" not in provider_of(viewer, one)


def test_how_many_failures_it_takes_is_a_setting(viewer, settings):
    settings.AGENTLENS_OFFLINE_AFTER = 1
    one = offer_with_check()
    health_checks.record_probe(one, failed())

    assert provider_of(viewer, one)["status"] == "unhealthy"


def test_a_check_of_its_own_tells_instead_of_its_agents_probes(viewer):
    one = offer_with_check(status=GONE, last_error="HTTP 500", consecutive_failures=9)
    before = provider_of(viewer, one)
    health_checks.record_probe(one, well(200))

    assert before["status"] == "unknown"
    after = provider_of(viewer, one)
    assert (after["status"], after["response_time"]) == ("healthy", "0.2s")
    assert not after.keys() & {"error", "code", "consecutive_failures"}


def test_without_one_its_agents_probes_do(viewer):
    entry = CatalogEntryFactory()
    names = ["data-analysis", "web-search"]
    for name in names:
        RegistrationFactory(entry=entry, capability=name)
    for _ in range(3):
        health.record_probe(entry, failed())

    assert [health_of(viewer, n)["overall_health"] for n in names] == ["unhealthy"] * 2


def test_what_nobody_offers_has_no_health(viewer):
    RegistrationFactory()
    answer = viewer.get(f"{REGISTRY}/data-analisis/health")
    body = assert_error_response(answer, 404, "CAPABILITY_NOT_FOUND")

    assert body["details"] == {
        "capability": "data-analisis",
        "available_capabilities": ["data-analysis"],
    }


# All


def test_an_empty_registry_is_healthy(viewer):
    assert everything(viewer) == {
        "overall_health": "healthy",
        "healthy_capabilities": 0,
        "degraded_capabilities": 0,
        "unhealthy_capabilities": 0,
        "capabilities": [],
    }


@pytest.mark.parametrize(
    ("capabilities", "overall"),
    [
        ([[WELL], [WELL, WELL]], "healthy"),
        ([[WELL], [GONE]], "degraded"),
        ([[GONE], [GONE]], "unhealthy"),
        ([[WELL, GONE]], "degraded"),
        ([[WELL], [WELL, GONE]], "degraded"),
        ([[GONE], [POOR]], "unhealthy"),
        ([[GONE], [WELL, POOR]], "degraded"),
    ],
)
def test_everything_is_healthy_or_unhealthy_only_if_all_are(
    viewer, capabilities, overall
):
    for n, states in enumerate(capabilities):
        offer(f"capability-{n}", *states)

    assert everything(viewer)["overall_health"] == overall


@pytest.fixture
def one_of_each(db):
    offer("healthy-one", WELL)
    offer("degraded-one", WELL, GONE)
    offer("unhealthy-one", GONE)


@pytest.mark.parametrize(
    ("query", "listed"),
    [
        ("", ["degraded", "healthy", "unhealthy"]),
        (
            "include_healthy=true&include_unhealthy=",
            ["degraded", "healthy", "unhealthy"],
        ),
        ("include_healthy=false", ["degraded", "unhealthy"]),
        ("include_unhealthy=false", ["degraded", "healthy"]),
        ("include_healthy=false&include_unhealthy=false", []),
    ],
)
def test_the_list_can_leave_some_out_and_the_counts_never_do(
    viewer, one_of_each, query, listed
):
    told = everything(viewer, query)

    assert [one["health"] for one in told.pop("capabilities")] == listed
    assert told == {
        "overall_health": "degraded",
        "healthy_capabilities": 1,
        "degraded_capabilities": 1,
        "unhealthy_capabilities": 1,
    }


def test_who_has_drained_is_not_counted(viewer):
    RegistrationFactory()
    RegistrationFactory(
        entry__status=GONE, drain_until=timezone.now() - timedelta(seconds=1)
    )

    assert health_of(viewer)["total_providers"] == 1
    assert everything(viewer)["capabilities"][0]["total_providers"] == 1


@pytest.mark.parametrize(
    "place",
    [
        "/health?include_healthy=yes",
        "/health?include_unhealthy=0",
        "/health?include_degraded=true",
        "/health?limit=1",
        "/data-analysis/health?version=1.0.0",
    ],
)
def test_a_bad_parameter_is_refused(viewer, place):
    RegistrationFactory()

    assert_error_response(viewer.get(REGISTRY + place), 400, "INVALID_PARAMETER")

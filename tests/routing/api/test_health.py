"""GET /capabilities/health and /capabilities/{capability}/health."""

from datetime import timedelta

import pytest
from django.utils import timezone

from catalog.health import status as health
from catalog.models import Status
from routing import health_checks, service
from tests.api_errors import assert_error_response
from tests.factories import CatalogEntryFactory
from tests.probes import failure, success
from tests.routing.api.requests import REGISTRY_URL
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db

HEALTHY, DEGRADED, UNKNOWN = Status.ACTIVE, Status.DEGRADED, Status.UNKNOWN
OFFLINE, DEPRECATED = Status.OFFLINE, Status.DEPRECATED


def get_health(client, capability: str = "data-analysis") -> dict:
    return client.get(f"{REGISTRY_URL}/{capability}/health").json()


def get_overall_health(client, query: str = "") -> dict:
    return client.get(f"{REGISTRY_URL}/health?{query}").json()


def get_provider_health(client, registration) -> dict:
    providers = get_health(client)["providers"]
    return next(
        provider
        for provider in providers
        if provider["agent_id"] == registration.agent_id
    )


def create_registrations(capability: str, *states: str) -> None:
    for state in states:
        RegistrationFactory(capability=capability, entry__status=state)


def register_with_health_check(**members):
    return service.register(
        CatalogEntryFactory(**members), "data-analysis", health_check_url="/health"
    )


# One capability


@pytest.mark.parametrize(
    ("states", "overall"),
    [
        # The four examples of the specification.
        ([HEALTHY, HEALTHY, OFFLINE], "healthy"),
        ([HEALTHY, HEALTHY], "healthy"),
        ([HEALTHY, OFFLINE], "degraded"),
        ([OFFLINE], "unhealthy"),
        # Cases between them.
        ([HEALTHY], "healthy"),
        ([HEALTHY, OFFLINE, OFFLINE], "degraded"),
        ([OFFLINE, OFFLINE, DEPRECATED], "unhealthy"),
        ([HEALTHY] * 4 + [OFFLINE] * 2, "healthy"),
        ([HEALTHY] * 3 + [OFFLINE] * 2, "degraded"),
        ([DEGRADED], "unhealthy"),
        ([UNKNOWN], "unhealthy"),
        ([DEGRADED, OFFLINE], "unhealthy"),
        ([HEALTHY, DEGRADED], "degraded"),
        ([HEALTHY, HEALTHY, DEGRADED], "healthy"),
    ],
)
def test_capability_is_healthy_with_two_thirds_healthy_providers(
    viewer_api, states, overall
):
    create_registrations("data-analysis", *states)
    body = get_health(viewer_api)
    (item,) = get_overall_health(viewer_api)["capabilities"]

    assert body["overall_health"] == item["health"] == overall
    assert body["healthy_providers"] == item["healthy_providers"]
    assert body["healthy_providers"] == states.count(HEALTHY)
    assert body["total_providers"] == item["total_providers"] == len(states)


@pytest.mark.parametrize("desired_state", ["inactive", "draining"])
def test_inactive_or_draining_provider_counts_as_not_healthy(viewer_api, desired_state):
    RegistrationFactory()
    RegistrationFactory(desired_state=desired_state)
    body = get_health(viewer_api)

    assert (body["healthy_providers"], body["total_providers"]) == (1, 2)
    assert body["overall_health"] == "degraded"
    assert get_overall_health(viewer_api)["capabilities"][0]["health"] == "degraded"


def test_capability_with_only_inactive_providers_is_unhealthy(viewer_api):
    RegistrationFactory(desired_state="inactive")

    assert get_health(viewer_api)["overall_health"] == "unhealthy"
    assert get_overall_health(viewer_api)["overall_health"] == "unhealthy"


def test_healthy_provider_has_no_error_members(viewer_api):
    registration = RegistrationFactory()
    health.record_probe(registration.entry, success(440))

    provider = get_provider_health(viewer_api, registration)
    last_check = provider.pop("last_check")
    assert last_check.endswith("Z")
    assert provider == {
        "agent_id": registration.agent_id,
        "agent_name": registration.entry.display_name,
        "status": "healthy",
        "response_time": "0.4s",
        "success_rate": 1.0,
    }


def test_unprobed_provider_has_null_metrics(viewer_api):
    registration = RegistrationFactory(entry__status=UNKNOWN)

    assert get_provider_health(viewer_api, registration) == {
        "agent_id": registration.agent_id,
        "agent_name": registration.entry.display_name,
        "status": "unknown",
        "last_check": None,
        "response_time": None,
        "success_rate": None,
    }


def test_provider_is_degraded_with_error_after_one_failure(viewer_api):
    registration = RegistrationFactory()
    health.record_probe(registration.entry, success())
    health.record_probe(registration.entry, failure(error="HTTP 503"))

    provider = get_provider_health(viewer_api, registration)
    assert (provider["status"], provider["error"]) == ("degraded", "HTTP 503")
    assert provider["consecutive_failures"] == 1
    assert provider["code"] == "HEALTH_CHECK_FAILED"


def test_provider_is_unhealthy_after_three_failures_and_healthy_after_success(
    viewer_api,
):
    registration = register_with_health_check()
    statuses = []
    for probe in (success(), failure(), failure(), failure(), success()):
        health_checks.record_probe(registration, probe)
        statuses.append(get_provider_health(viewer_api, registration)["status"])

    assert statuses == ["healthy", "degraded", "degraded", "unhealthy", "healthy"]
    assert "error" not in get_provider_health(viewer_api, registration)


def test_offline_after_setting_changes_number_of_failures(viewer_api, settings):
    settings.AGENTLENS_OFFLINE_AFTER = 1
    registration = register_with_health_check()
    health_checks.record_probe(registration, failure())

    assert get_provider_health(viewer_api, registration)["status"] == "unhealthy"


def test_own_health_check_replaces_agent_probes(viewer_api):
    registration = register_with_health_check(
        status=OFFLINE, last_error="HTTP 500", consecutive_failures=9
    )
    before = get_provider_health(viewer_api, registration)
    health_checks.record_probe(registration, success(200))

    assert before["status"] == "unknown"
    after = get_provider_health(viewer_api, registration)
    assert (after["status"], after["response_time"]) == ("healthy", "0.2s")
    assert not after.keys() & {"error", "code", "consecutive_failures"}


def test_agent_probes_apply_to_all_its_registrations(viewer_api):
    entry = CatalogEntryFactory()
    names = ["data-analysis", "web-search"]
    for name in names:
        RegistrationFactory(entry=entry, capability=name)
    for _ in range(3):
        health.record_probe(entry, failure())

    assert [get_health(viewer_api, n)["overall_health"] for n in names] == [
        "unhealthy"
    ] * 2


def test_health_of_unknown_capability_returns_404(viewer_api):
    RegistrationFactory()
    response = viewer_api.get(f"{REGISTRY_URL}/data-analisis/health")
    body = assert_error_response(response, 404, "CAPABILITY_NOT_FOUND")

    assert body["details"] == {
        "capability": "data-analisis",
        "available_capabilities": ["data-analysis"],
    }


# All capabilities


def test_empty_registry_is_healthy(viewer_api):
    assert get_overall_health(viewer_api) == {
        "overall_health": "healthy",
        "healthy_capabilities": 0,
        "degraded_capabilities": 0,
        "unhealthy_capabilities": 0,
        "capabilities": [],
    }


@pytest.mark.parametrize(
    ("capabilities", "overall"),
    [
        ([[HEALTHY], [HEALTHY, HEALTHY]], "healthy"),
        ([[HEALTHY], [OFFLINE]], "degraded"),
        ([[OFFLINE], [OFFLINE]], "unhealthy"),
        ([[HEALTHY, OFFLINE]], "degraded"),
        ([[HEALTHY], [HEALTHY, OFFLINE]], "degraded"),
        ([[OFFLINE], [DEGRADED]], "unhealthy"),
        ([[OFFLINE], [HEALTHY, DEGRADED]], "degraded"),
    ],
)
def test_overall_health_is_degraded_unless_all_are_equal(
    viewer_api, capabilities, overall
):
    for n, states in enumerate(capabilities):
        create_registrations(f"capability-{n}", *states)

    assert get_overall_health(viewer_api)["overall_health"] == overall


@pytest.fixture
def capability_of_each_health(db):
    create_registrations("healthy-one", HEALTHY)
    create_registrations("degraded-one", HEALTHY, OFFLINE)
    create_registrations("unhealthy-one", OFFLINE)


@pytest.mark.parametrize(
    ("query", "expected"),
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
def test_include_parameters_filter_list_but_not_counts(
    viewer_api, capability_of_each_health, query, expected
):
    body = get_overall_health(viewer_api, query)

    assert [item["health"] for item in body.pop("capabilities")] == expected
    assert body == {
        "overall_health": "degraded",
        "healthy_capabilities": 1,
        "degraded_capabilities": 1,
        "unhealthy_capabilities": 1,
    }


def test_drained_registration_is_not_counted(viewer_api):
    RegistrationFactory()
    RegistrationFactory(
        entry__status=OFFLINE, drain_until=timezone.now() - timedelta(seconds=1)
    )

    assert get_health(viewer_api)["total_providers"] == 1
    assert get_overall_health(viewer_api)["capabilities"][0]["total_providers"] == 1


@pytest.mark.parametrize(
    "path",
    [
        "/health?include_healthy=yes",
        "/health?include_unhealthy=0",
        "/health?include_degraded=true",
        "/health?limit=1",
        "/data-analysis/health?version=1.0.0",
    ],
)
def test_health_with_invalid_parameter_returns_400(viewer_api, path):
    RegistrationFactory()

    assert_error_response(viewer_api.get(REGISTRY_URL + path), 400, "INVALID_PARAMETER")

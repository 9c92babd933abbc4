"""Own health checks of registrations, run by the prober against real servers."""

from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from catalog.health.scheduler import Prober
from catalog.ingestion.curation import curate
from catalog.models import Status
from routing import health_checks, service
from routing.health_checks import RegistrationTargets, build_health_check_url
from routing.models import CapabilityRegistration, DesiredState
from tests.factories import AgentTypeFactory, CatalogEntryFactory, UserFactory
from tests.probes import failure, success
from tests.routing.factories import RegistrationFactory
from tests.servers import LOOPBACK, never_respond, redirect, reply, run_server

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def agent_server(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with run_server() as server:
        server.routes["/health"] = reply()
        yield server


def create_agent(endpoint, **members):
    return CatalogEntryFactory(
        agent_type=AgentTypeFactory(endpoint=endpoint), **members
    )


def register_with_check(entry, url="/health", **members):
    return service.register(entry, "data-analysis", health_check_url=url, **members)


def reload_registration(registration):
    return CapabilityRegistration.objects.with_state().get(pk=registration.pk)


def run_all_checks():
    """Make all own health checks due and run them; return their number."""
    with_own_check = CapabilityRegistration.objects.exclude(next_check_at=None)
    with_own_check.update(next_check_at=timezone.now())
    return async_to_sync(Prober().probe_all_due)()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/health", "https://agent.example.com/health"),
        ("/a/{agent_id}/b", "https://agent.example.com/a/%s/b"),
        ("/{agent_id}?again={agent_id}", "https://agent.example.com/%s?again=%s"),
        ("https://other.example.com/health", "https://other.example.com/health"),
        ("http://other.example.com/{agent_id}", "http://other.example.com/%s"),
    ],
)
def test_health_check_url_is_relative_to_agent_unless_absolute(url, expected):
    registration = register_with_check(
        create_agent("https://agent.example.com/deep/a2a"), url
    )

    assert build_health_check_url(registration) == expected.replace(
        "%s", registration.agent_id
    )


def test_relative_health_check_url_is_requested_from_agent(agent_server):
    url = "/api/v1/config-agents/{agent_id}/health"
    registration = register_with_check(create_agent(agent_server.url("/a2a")), url)
    path = url.replace("{agent_id}", registration.agent_id)
    agent_server.routes[path] = reply()

    assert async_to_sync(Prober().probe_all_due)() == 1
    assert agent_server.paths == [path]
    assert reload_registration(registration).health == "healthy"


def test_registration_is_unhealthy_after_three_failures_and_active_after_success(
    agent_server,
):
    registration = register_with_check(create_agent(agent_server.url("/a2a")))
    states = []
    for status in (200, 503, 500, 404, 503, 200):
        agent_server.routes["/health"] = reply(status)
        run_all_checks()
        current = reload_registration(registration)
        states.append((current.status, current.health, current.consecutive_failures))

    assert states == [
        ("active", "healthy", 0),
        ("active", "degraded", 1),
        ("active", "degraded", 2),
        ("unhealthy", "unhealthy", 3),
        ("unhealthy", "unhealthy", 4),
        ("active", "healthy", 0),
    ]


def test_check_stores_time_latency_and_error(agent_server):
    registration = register_with_check(create_agent(agent_server.url("/a2a")))
    before = timezone.now()
    run_all_checks()
    current = reload_registration(registration)
    assert before <= current.last_check <= timezone.now()
    assert (current.error, current.latency_ms) == ("", current.check_latency_ms)
    assert 0 <= current.latency_ms < 5000

    agent_server.routes["/health"] = reply(503)
    run_all_checks()
    failed = reload_registration(registration)
    assert failed.error == "HTTP 503"
    assert failed.latency_ms == current.latency_ms
    # In one row, or in two if a new hour has just begun.
    hours = registration.check_hours.values_list("probes", "failures")
    assert [sum(counts) for counts in zip(*hours, strict=True)] == [2, 1]


def test_older_check_result_does_not_overwrite_newer_result(agent_server):
    registration = register_with_check(create_agent(agent_server.url("/a2a")))
    now = timezone.now()
    assert health_checks.record_probe(registration, success(at=now))
    assert not health_checks.record_probe(
        registration, failure(at=now - timedelta(minutes=1))
    )

    current = reload_registration(registration)
    assert (current.health, current.last_check) == ("healthy", now)


def test_endpoint_that_is_not_a_url_has_no_own_check():
    entry = CatalogEntryFactory(agent_type__endpoint="config://[x")
    registration = service.register(entry, "web-search", health_check_url="/health")

    assert not registration.has_own_check
    service.update(registration, {"health_check_url": "/other"})


@pytest.mark.parametrize(
    "desired_state", [DesiredState.INACTIVE, DesiredState.DRAINING]
)
def test_check_does_not_change_desired_state(agent_server, desired_state):
    registration = register_with_check(
        create_agent(agent_server.url("/a2a")), desired_state=desired_state
    )
    for status in (503, 503, 503, 200):
        agent_server.routes["/health"] = reply(status)
        run_all_checks()
        current = reload_registration(registration)
        assert (current.status, current.desired_state, current.takes_traffic) == (
            desired_state,
            desired_state,
            False,
        )
    assert current.health == "healthy"


@pytest.mark.parametrize("url", ["http://10.0.0.1/health", "http://169.254.169.254/"])
def test_private_address_fails_check_with_message(settings, url):
    settings.AGENTLENS_ALLOWED_NETWORKS = []
    registration = register_with_check(
        create_agent("https://agent.example.com/a2a"), url
    )
    for _ in range(3):
        run_all_checks()
    current = reload_registration(registration)

    assert current.status == "unhealthy"
    assert "is not a public host" in current.error


def test_redirect_to_private_address_fails_check(agent_server, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK[:1]
    agent_server.routes["/health"] = redirect("http://10.0.0.1/secret")
    registration = register_with_check(create_agent(agent_server.url("/a2a")))
    run_all_checks()

    assert reload_registration(registration).health == "degraded"
    assert reload_registration(registration).error


def test_health_without_own_check_follows_agent_status():
    registration = register_with_check(
        create_agent("https://agent.example.com/a2a"), ""
    )
    healths = []
    for status in Status.values:
        registration.entry.status = status
        registration.entry.save()
        healths.append((status, reload_registration(registration).health))

    assert registration.next_check_at is None
    assert dict(healths) == {
        "unknown": "unknown",
        "active": "healthy",
        "degraded": "degraded",
        "offline": "unhealthy",
        "deprecated": "unhealthy",
    }


def test_own_check_overrides_agent_status(agent_server):
    registration = register_with_check(
        create_agent(agent_server.url("/a2a"), status=Status.OFFLINE)
    )
    assert reload_registration(registration).health == "unknown"
    run_all_checks()
    assert reload_registration(registration).health == "healthy"


def test_own_check_does_not_override_deprecated_agent(agent_server):
    registration = register_with_check(
        create_agent(agent_server.url("/a2a"), status=Status.DEPRECATED)
    )
    run_all_checks()

    assert reload_registration(registration).status == "unhealthy"


def test_deprecated_agent_is_not_checked(agent_server):
    entry = create_agent(agent_server.url("/a2a"))
    register_with_check(entry)
    curate(entry, {"status": Status.DEPRECATED}, by=UserFactory())

    assert run_all_checks() == 0
    assert agent_server.paths == []


def test_changed_health_check_url_resets_health(agent_server):
    agent_server.routes["/health"] = reply(503)
    registration = register_with_check(create_agent(agent_server.url("/a2a")))
    for _ in range(3):
        run_all_checks()
    assert reload_registration(registration).status == "unhealthy"

    service.update(registration, {"health_check_url": "/health/detailed"})
    current = reload_registration(registration)
    assert (current.health, current.last_check, current.error) == ("unknown", None, "")
    assert current.consecutive_failures == 0
    agent_server.routes["/health/detailed"] = reply()
    assert async_to_sync(Prober().probe_all_due)() == 1
    assert reload_registration(registration).health == "healthy"


def test_unchanged_health_check_url_keeps_health(agent_server):
    registration = register_with_check(create_agent(agent_server.url("/a2a")))
    run_all_checks()
    service.update(registration, {"health_check_url": "/health", "priority": 7})

    assert reload_registration(registration).health == "healthy"
    assert async_to_sync(Prober().probe_all_due)() == 0


def test_late_result_of_old_url_is_discarded(agent_server):
    register_with_check(create_agent(agent_server.url("/a2a")))
    [claimed] = RegistrationTargets().claim(10, timezone.now())
    service.update(claimed, {"health_check_url": "/other"})

    assert not health_checks.record_probe(claimed, failure())
    assert reload_registration(claimed).last_check is None


def test_removed_health_check_url_falls_back_to_agent_status(agent_server):
    registration = register_with_check(
        create_agent(agent_server.url("/a2a"), status=Status.DEGRADED)
    )
    run_all_checks()
    service.update(registration, {"health_check_url": ""})

    assert reload_registration(registration).health == "degraded"
    assert run_all_checks() == 0
    assert not health_checks.record_probe(registration, success())


def test_relative_url_of_agent_without_url_is_not_checked():
    entry = create_agent("config:DataAnalyzer", status=Status.DEGRADED)
    registration = register_with_check(entry, "/health")

    assert run_all_checks() == 0
    assert reload_registration(registration).health == "degraded"


def test_claimed_checks_are_not_claimed_again_during_lease():
    for n in range(5):
        register_with_check(create_agent(f"https://agent{n}.example.com/a2a"))

    now = timezone.now()

    assert [len(RegistrationTargets().claim(3, now)) for _ in range(3)] == [3, 2, 0]


def test_drained_or_deleted_registration_is_not_checked(agent_server):
    registration = RegistrationFactory(
        health_check_url=agent_server.url("/health"),
        next_check_at=timezone.now(),
        drain_until=timezone.now(),
    )
    assert run_all_checks() == 0
    registration.delete()
    assert not health_checks.record_probe(registration, success())


def test_hanging_check_does_not_delay_others(agent_server, settings):
    settings.AGENTLENS_PROBE_TIMEOUT = 2
    agent_server.routes["/slow"] = never_respond
    slow = register_with_check(
        create_agent(agent_server.url("/slow-agent")), agent_server.url("/slow")
    )
    fast = register_with_check(create_agent(agent_server.url("/quick-agent")))
    run_all_checks()

    assert reload_registration(slow).error == "Timed out after 2 s"
    assert reload_registration(fast).health == "healthy"

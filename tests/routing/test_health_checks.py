"""Health checks of their own, made by the prober against real servers."""

from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from catalog.health.scheduler import Prober
from catalog.ingestion.curation import curate
from catalog.models import Status
from routing import health_checks, service
from routing.health_checks import HealthChecks, health_check_url_for
from routing.models import CapabilityRegistration, DesiredState
from tests.factories import AgentTypeFactory, CatalogEntryFactory, UserFactory
from tests.probes import failed, well
from tests.routing.factories import RegistrationFactory
from tests.servers import LOOPBACK, redirect, reply, serving, silence

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def host(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with serving() as server:
        server.routes["/health"] = reply()
        yield server


def agent_at(endpoint, **members):
    return CatalogEntryFactory(
        agent_type=AgentTypeFactory(endpoint=endpoint), **members
    )


def offer(entry, url="/health", **members):
    return service.register(entry, "data-analysis", health_check_url=url, **members)


def seen(registration):
    return CapabilityRegistration.objects.with_state().get(pk=registration.pk)


def check_again():
    """Everything with a check of its own comes due, and is asked."""
    own = CapabilityRegistration.objects.exclude(next_check_at=None)
    own.update(next_check_at=timezone.now())
    return async_to_sync(Prober().probe_all_due)()


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("/health", "https://agent.example.com/health"),
        ("/a/{agent_id}/b", "https://agent.example.com/a/%s/b"),
        ("/{agent_id}?again={agent_id}", "https://agent.example.com/%s?again=%s"),
        ("https://other.example.com/health", "https://other.example.com/health"),
        ("http://other.example.com/{agent_id}", "http://other.example.com/%s"),
    ],
)
def test_an_address_belongs_to_the_agent_unless_it_is_whole(url, address):
    registration = offer(agent_at("https://agent.example.com/deep/a2a"), url)

    assert health_check_url_for(registration) == address.replace(
        "%s", registration.agent_id
    )


def test_the_seeds_relative_address_is_asked_of_the_agent(host):
    url = "/api/v1/config-agents/{agent_id}/health"
    registration = offer(agent_at(host.url("/a2a")), url)
    path = url.replace("{agent_id}", registration.agent_id)
    host.routes[path] = reply()

    assert async_to_sync(Prober().probe_all_due)() == 1
    assert host.paths == [path]
    assert seen(registration).health == "healthy"


def test_three_failures_make_it_unhealthy_and_one_success_active(host):
    registration = offer(agent_at(host.url("/a2a")))
    states = []
    for status in (200, 503, 500, 404, 503, 200):
        host.routes["/health"] = reply(status)
        check_again()
        one = seen(registration)
        states.append((one.status, one.health, one.consecutive_failures))

    assert states == [
        ("active", "healthy", 0),
        ("active", "degraded", 1),
        ("active", "degraded", 2),
        ("unhealthy", "unhealthy", 3),
        ("unhealthy", "unhealthy", 4),
        ("active", "healthy", 0),
    ]


def test_a_check_leaves_its_time_its_latency_and_its_words(host):
    registration = offer(agent_at(host.url("/a2a")))
    before = timezone.now()
    check_again()
    one = seen(registration)
    assert before <= one.last_check <= timezone.now()
    assert (one.error, one.latency_ms) == ("", one.check_latency_ms)
    assert 0 <= one.latency_ms < 5000

    host.routes["/health"] = reply(503)
    check_again()
    failing = seen(registration)
    assert failing.error == "HTTP 503"
    assert failing.latency_ms == one.latency_ms
    # Of one hour, or of two, if another has just begun.
    hours = registration.check_hours.values_list("probes", "failures")
    assert [sum(counts) for counts in zip(*hours, strict=True)] == [2, 1]


def test_a_late_result_never_overwrites_a_newer_one(host):
    registration = offer(agent_at(host.url("/a2a")))
    now = timezone.now()
    assert health_checks.record_probe(registration, well(at=now))
    assert not health_checks.record_probe(
        registration, failed(at=now - timedelta(minutes=1))
    )

    one = seen(registration)
    assert (one.health, one.last_check) == ("healthy", now)


def test_an_endpoint_that_only_looks_like_an_address_has_none():
    entry = CatalogEntryFactory(agent_type__endpoint="config://[x")
    registration = service.register(entry, "web-search", health_check_url="/health")

    assert not registration.has_own_check
    service.update(registration, {"health_check_url": "/other"})


@pytest.mark.parametrize("intent", [DesiredState.INACTIVE, DesiredState.DRAINING])
def test_what_people_want_of_it_is_left_alone(host, intent):
    registration = offer(agent_at(host.url("/a2a")), intent=intent)
    for status in (503, 503, 503, 200):
        host.routes["/health"] = reply(status)
        check_again()
        one = seen(registration)
        assert (one.status, one.intent, one.takes_traffic) == (intent, intent, False)
    assert one.health == "healthy"


@pytest.mark.parametrize("url", ["http://10.0.0.1/health", "http://169.254.169.254/"])
def test_a_private_address_is_refused_in_words(settings, url):
    settings.AGENTLENS_ALLOWED_NETWORKS = []
    registration = offer(agent_at("https://agent.example.com/a2a"), url)
    for _ in range(3):
        check_again()
    one = seen(registration)

    assert one.status == "unhealthy"
    assert one.error.endswith("is not at a public address")


def test_nor_does_a_redirect_lead_to_one(host, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK[:1]
    host.routes["/health"] = redirect("http://10.0.0.1/secret")
    registration = offer(agent_at(host.url("/a2a")))
    check_again()

    assert seen(registration).health == "degraded"
    assert seen(registration).error


def test_without_an_address_of_its_own_it_is_as_its_agent_is():
    registration = offer(agent_at("https://agent.example.com/a2a"), "")
    healths = []
    for status in Status.values:
        registration.entry.status = status
        registration.entry.save()
        healths.append((status, seen(registration).health))

    assert registration.next_check_at is None
    assert dict(healths) == {
        "unknown": "unknown",
        "active": "healthy",
        "degraded": "degraded",
        "offline": "unhealthy",
        "deprecated": "unhealthy",
    }


def test_its_own_check_counts_and_not_its_agents(host):
    registration = offer(agent_at(host.url("/a2a"), status=Status.OFFLINE))
    assert seen(registration).health == "unknown"
    check_again()
    assert seen(registration).health == "healthy"


def test_no_check_brings_a_deprecated_agent_back(host):
    registration = offer(agent_at(host.url("/a2a"), status=Status.DEPRECATED))
    check_again()

    assert seen(registration).status == "unhealthy"


def test_and_a_deprecated_agent_is_not_asked_any_more(host):
    entry = agent_at(host.url("/a2a"))
    offer(entry)
    curate(entry, {"status": Status.DEPRECATED}, by=UserFactory())

    assert check_again() == 0
    assert host.paths == []


def test_another_address_starts_over(host):
    host.routes["/health"] = reply(503)
    registration = offer(agent_at(host.url("/a2a")))
    for _ in range(3):
        check_again()
    assert seen(registration).status == "unhealthy"

    service.update(registration, {"health_check_url": "/health/detailed"})
    one = seen(registration)
    assert (one.health, one.last_check, one.error) == ("unknown", None, "")
    assert one.consecutive_failures == 0
    host.routes["/health/detailed"] = reply()
    assert async_to_sync(Prober().probe_all_due)() == 1
    assert seen(registration).health == "healthy"


def test_the_same_address_again_does_not(host):
    registration = offer(agent_at(host.url("/a2a")))
    check_again()
    service.update(registration, {"health_check_url": "/health", "priority": 7})

    assert seen(registration).health == "healthy"
    assert async_to_sync(Prober().probe_all_due)() == 0


def test_what_the_old_address_answered_late_is_not_said_of_the_new_one(host):
    offer(agent_at(host.url("/a2a")))
    [held] = HealthChecks().claim(10, timezone.now())
    service.update(held, {"health_check_url": "/other"})

    assert not health_checks.record_probe(held, failed())
    assert seen(held).last_check is None


def test_an_address_taken_away_leaves_it_to_the_agent(host):
    registration = offer(agent_at(host.url("/a2a"), status=Status.DEGRADED))
    check_again()
    service.update(registration, {"health_check_url": ""})

    assert seen(registration).health == "degraded"
    assert check_again() == 0
    assert not health_checks.record_probe(registration, well())


def test_where_the_agent_has_no_address_a_relative_one_is_never_asked():
    entry = agent_at("config:DataAnalyzer", status=Status.DEGRADED)
    registration = offer(entry, "/health")

    assert check_again() == 0
    assert seen(registration).health == "degraded"


def test_what_is_claimed_is_not_claimed_again_before_the_lease_ends():
    for n in range(5):
        offer(agent_at(f"https://agent{n}.example.com/a2a"))

    now = timezone.now()

    assert [len(HealthChecks().claim(3, now)) for _ in range(3)] == [3, 2, 0]


def test_what_has_drained_or_is_gone_is_not_asked_nor_written(host):
    registration = RegistrationFactory(
        health_check_url=host.url("/health"),
        next_check_at=timezone.now(),
        drain_until=timezone.now(),
    )
    assert check_again() == 0
    registration.delete()
    assert not health_checks.record_probe(registration, well())


def test_one_that_hangs_holds_nobody_up(host, settings):
    settings.AGENTLENS_PROBE_TIMEOUT = 2
    host.routes["/slow"] = silence
    slow = offer(agent_at(host.url("/slow-agent")), host.url("/slow"))
    quick = offer(agent_at(host.url("/quick-agent")))
    check_again()

    assert seen(slow).error == "Timed out after 2 s"
    assert seen(quick).health == "healthy"

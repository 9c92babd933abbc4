"""Events that changes of registrations publish."""

import re

import pytest
from asgiref.sync import async_to_sync
from django.db import transaction
from django.utils import timezone

from catalog.health.scheduler import Prober
from catalog.health.status import record_probe
from catalog.ingestion.curation import curate
from catalog.models import Status
from routing import health_checks, service
from routing.cleanup import remove_drained_registrations
from routing.models import CapabilityRegistration, DesiredState
from tests.factories import AgentTypeFactory, CatalogEntryFactory, UserFactory
from tests.probes import failure, success
from tests.routing.streams import (
    assert_no_more_events,
    get_capabilities,
    get_event_types,
    open_websocket,
)
from tests.servers import LOOPBACK, run_server
from tests.websockets import receive_events

pytestmark = pytest.mark.django_db(transaction=True)

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def test_register_publishes_registered_event(agentlens_url):
    entry = CatalogEntryFactory()
    with open_websocket(agentlens_url) as websocket:
        service.register(entry, "data-analysis", priority=100)
        [event] = receive_events(websocket, 1)

    assert TIMESTAMP.fullmatch(event.pop("timestamp"))
    assert event == {
        "type": "capability_registered",
        "data": {
            "agent_id": str(entry.pk),
            "capability": "data-analysis",
            "priority": 100,
        },
    }


def test_health_change_publishes_old_and_new_status(agentlens_url):
    entry = CatalogEntryFactory()
    service.register(entry, "data-analysis")
    with open_websocket(agentlens_url) as websocket:
        for probe in (
            failure(),
            failure(),
            failure(error="Connection timeout"),
            success(),
        ):
            record_probe(entry, probe)
        degraded, unhealthy, recovered = receive_events(websocket, 3)

    common = {"agent_id": str(entry.pk), "capability": "data-analysis"}
    assert TIMESTAMP.fullmatch(unhealthy.pop("timestamp"))
    assert unhealthy == {
        "type": "capability_health_changed",
        "data": common
        | {
            "old_status": "degraded",
            "new_status": "unhealthy",
            "error": "Connection timeout",
            "code": "HEALTH_CHECK_FAILED",
        },
    }
    assert degraded["data"]["old_status"] == "healthy"
    assert recovered["data"] == common | {
        "old_status": "unhealthy",
        "new_status": "healthy",
    }


def test_health_change_from_healthy_to_unhealthy_has_error_and_code(
    agentlens_url, settings
):
    settings.AGENTLENS_OFFLINE_AFTER = 1
    entry = CatalogEntryFactory()
    service.register(entry, "data-analysis")
    with open_websocket(agentlens_url) as websocket:
        record_probe(entry, failure(error="Connection timeout"))
        [event] = receive_events(websocket, 1)

    assert event.pop("timestamp")
    assert event == {
        "type": "capability_health_changed",
        "data": {
            "agent_id": str(entry.pk),
            "capability": "data-analysis",
            "old_status": "healthy",
            "new_status": "unhealthy",
            "error": "Connection timeout",
            "code": "HEALTH_CHECK_FAILED",
        },
    }


def test_new_health_check_url_publishes_health_change_and_update(agentlens_url):
    registration = service.register(
        CatalogEntryFactory(), "data-analysis", health_check_url="/a"
    )
    for _ in range(3):
        health_checks.record_probe(registration, failure())
    with open_websocket(agentlens_url) as websocket:
        service.update(registration, {"health_check_url": "/b"})
        events = receive_events(websocket, 2)

    assert get_event_types(events) == ["health_changed", "updated"]
    assert events[0]["data"]["old_status"] == "unhealthy"
    assert events[0]["data"]["new_status"] == "unknown"
    assert not registration.check_hours.exists()


def test_update_event_lists_only_changed_members(agentlens_url):
    registration = service.register(CatalogEntryFactory(), "data-analysis", priority=10)
    with open_websocket(agentlens_url) as websocket:
        service.update(registration, {"priority": 10})
        changes = {"priority": 20, "metadata": {"a": 1}, "version": "1.0.0"}
        service.update(registration, changes)
        service.update(registration, {"desired_state": DesiredState.INACTIVE})
        events = receive_events(websocket, 2)
        assert_no_more_events(websocket)

    common = {
        "agent_id": registration.agent_id,
        "capability": "data-analysis",
        "priority": 20,
    }
    assert [event["type"] for event in events] == ["capability_updated"] * 2
    assert [event["data"] for event in events] == [
        common | {"changed": ["metadata", "priority"]},
        common | {"changed": ["status"]},
    ]


def test_unregister_publishes_registration_id(agentlens_url):
    registration = service.register(CatalogEntryFactory(), "data-analysis")
    with open_websocket(agentlens_url) as websocket:
        service.unregister(registration)
        [event] = receive_events(websocket, 1)

    assert TIMESTAMP.fullmatch(event.pop("timestamp"))
    assert event == {
        "type": "capability_unregistered",
        "data": {
            "agent_id": registration.agent_id,
            "capability": "data-analysis",
            "registration_id": event["data"]["registration_id"],
        },
    }
    assert event["data"]["registration_id"].startswith("cap-reg-")


def test_drain_publishes_update_and_then_unregistered_event(agentlens_url, settings):
    settings.AGENTLENS_DRAIN_SECONDS = 0
    registration = service.register(CatalogEntryFactory(), "data-analysis")
    with open_websocket(agentlens_url) as websocket:
        service.unregister(registration, drain=True)
        remove_drained_registrations()
        events = receive_events(websocket, 2)

    assert get_event_types(events) == ["updated", "unregistered"]
    assert events[0]["data"]["changed"] == ["status"]


def test_deleting_agent_publishes_unregistered_events(agentlens_url):
    entry = CatalogEntryFactory()
    for name in ("data-analysis", "web-search"):
        service.register(entry, name)
    with open_websocket(agentlens_url) as websocket:
        entry.delete()
        events = receive_events(websocket, 2)
        assert_no_more_events(websocket)

    assert get_event_types(events) == ["unregistered"] * 2
    assert set(get_capabilities(events)) == {"data-analysis", "web-search"}
    assert {event["data"]["agent_id"] for event in events} == {str(entry.pk)}


def test_agent_probe_publishes_events_except_for_own_health_checks(agentlens_url):
    entry = CatalogEntryFactory(status=Status.UNKNOWN)
    service.register(entry, "data-analysis")
    service.register(entry, "web-search")
    service.register(entry, "translation", health_check_url="/health")
    with open_websocket(agentlens_url) as websocket:
        record_probe(entry, success())
        events = receive_events(websocket, 2)
        assert_no_more_events(websocket)

    assert set(get_capabilities(events)) == {"data-analysis", "web-search"}
    states = {(e["data"]["old_status"], e["data"]["new_status"]) for e in events}
    assert states == {("unknown", "healthy")}


def test_prober_publishes_events_of_own_health_check(agentlens_url, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with run_server() as host, open_websocket(agentlens_url) as websocket:
        url = host.url("/health")
        service.register(CatalogEntryFactory(), "web-search", health_check_url=url)
        for _ in range(4):
            CapabilityRegistration.objects.update(next_check_at=timezone.now())
            async_to_sync(Prober().probe_all_due)()
        events = receive_events(websocket, 3)
        assert_no_more_events(websocket)

    assert get_event_types(events) == ["registered", "health_changed", "health_changed"]
    changes = [(e["data"]["old_status"], e["data"]["new_status"]) for e in events[1:]]
    assert changes == [("unknown", "degraded"), ("degraded", "unhealthy")]
    assert {e["data"]["error"] for e in events[1:]} == {"HTTP 404"}


def test_deprecating_agent_publishes_health_change_despite_own_check(agentlens_url):
    entry = CatalogEntryFactory()
    registration = service.register(entry, "web-search", health_check_url="/health")
    health_checks.record_probe(registration, success())
    with open_websocket(agentlens_url) as websocket:
        curate(entry, {"status": Status.DEPRECATED}, by=UserFactory())
        [event] = receive_events(websocket, 1)

    assert event["data"]["old_status"] == "healthy"
    assert event["data"]["new_status"] == "unhealthy"


def test_agent_health_is_published_when_own_check_has_no_url(agentlens_url):
    entry = CatalogEntryFactory(
        agent_type=AgentTypeFactory(endpoint="config:DataAnalyzer")
    )
    service.register(entry, "web-search", health_check_url="/health")
    with open_websocket(agentlens_url) as websocket:
        curate(entry, {"status": Status.DEPRECATED}, by=UserFactory())
        [event] = receive_events(websocket, 1)

    assert event["data"]["new_status"] == "unhealthy"


def test_capability_parameter_filters_events(agentlens_url):
    entry = CatalogEntryFactory()
    with open_websocket(
        agentlens_url, "?capability=web-search&capability=translation"
    ) as websocket:
        for name in ("data-analysis", "web-search", "image-processing", "translation"):
            service.register(entry, name)
        entry.delete()
        events = receive_events(websocket, 4)
        assert_no_more_events(websocket, "translation")

    assert get_event_types(events) == ["registered"] * 2 + ["unregistered"] * 2
    assert get_capabilities(events[:2]) == ["web-search", "translation"]
    assert set(get_capabilities(events[2:])) == {"web-search", "translation"}


def test_rolled_back_changes_publish_no_events(agentlens_url):
    entry = CatalogEntryFactory()
    registration = service.register(entry, "web-search")
    with open_websocket(agentlens_url) as websocket:
        with transaction.atomic():
            service.register(entry, "data-analysis")
            service.update(registration, {"priority": 7})
            service.unregister(registration)
            transaction.set_rollback(True)
        service.register(entry, "translation")
        events = receive_events(websocket, 1)
        assert_no_more_events(websocket)

    assert get_capabilities(events) == ["translation"]


def test_duplicate_registration_publishes_no_event(agentlens_url):
    entry = CatalogEntryFactory()
    service.register(entry, "web-search")
    with open_websocket(agentlens_url) as websocket:
        with pytest.raises(service.AlreadyRegisteredError):
            service.register(entry, "web-search")
        assert_no_more_events(websocket)

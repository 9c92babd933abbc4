"""Unregistering and draining: DELETE /capabilities/{agent_id}/{capability}."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from routing.cleanup import remove_drained_registrations
from routing.models import CapabilityRegistration
from tests.api_errors import assert_error_response
from tests.routing.api.requests import (
    REGISTRY_URL,
    get_decision,
    register,
    unregister,
    update,
)
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db


# Unregistering


@pytest.mark.parametrize("name", ["agent_id", "agent_key"])
def test_unregistered_capability_can_be_registered_again(editor_api, name):
    registration = RegistrationFactory()
    other = RegistrationFactory()
    agent_id = (
        registration.agent_id if name == "agent_id" else registration.entry.agent_key
    )
    response = editor_api.delete(f"{REGISTRY_URL}/{agent_id}/data-analysis")

    assert response.status_code == 204
    assert CapabilityRegistration.objects.get() == other
    assert register(editor_api, registration.entry).status_code == 201


def test_second_unregister_returns_404(editor_api):
    registration = RegistrationFactory()
    unregister(editor_api, registration)
    body = assert_error_response(
        unregister(editor_api, registration), 404, "REGISTRATION_NOT_FOUND"
    )

    expected = {"agent_id": registration.agent_id, "capability": "data-analysis"}
    assert body["details"] == expected


def test_unregister_of_reserved_name_returns_404(editor_api):
    registration = RegistrationFactory()
    response = editor_api.delete(f"{REGISTRY_URL}/{registration.agent_id}/health")

    assert_error_response(response, 404, "REGISTRATION_NOT_FOUND")


@pytest.mark.parametrize("agent_id", [uuid4(), "nobody", "%00", "x" * 300])
def test_unregister_with_unknown_agent_returns_404(editor_api, agent_id):
    response = editor_api.delete(f"{REGISTRY_URL}/{agent_id}/data-analysis")

    assert_error_response(response, 404, "AGENT_NOT_FOUND")


@pytest.mark.parametrize("name", ["web-search", "No-Name", "%00", "x" * 300])
def test_unregister_of_unknown_capability_returns_404(editor_api, name):
    response = editor_api.delete(
        f"{REGISTRY_URL}/{RegistrationFactory().agent_id}/{name}"
    )

    assert_error_response(response, 404, "REGISTRATION_NOT_FOUND")


def test_deleting_agent_deletes_its_registrations(admin_api):
    registration = RegistrationFactory()
    admin_api.delete(f"/api/v1/catalog/{registration.entry_id}")

    assert not CapabilityRegistration.objects.exists()


# Draining


def expire_drain():
    past = timezone.now() - timedelta(seconds=1)
    CapabilityRegistration.objects.update(drain_until=past)


def test_draining_provider_gets_no_new_traffic(editor_api):
    draining = RegistrationFactory(priority=1000)
    remaining = RegistrationFactory(priority=1)
    response = unregister(editor_api, draining, "?drain=true")

    decision = get_decision(editor_api, include_unhealthy="true")
    statuses = [
        (provider["registration_id"], provider["status"])
        for provider in decision["providers"]
    ]
    assert (response.status_code, response.content) == (204, b"")
    assert statuses == [(remaining.pk, "active"), (draining.pk, "draining")]
    assert (decision["total_providers"], decision["healthy_providers"]) == (2, 1)
    assert [
        provider["registration_id"]
        for provider in get_decision(editor_api)["providers"]
    ] == [remaining.pk]


STRATEGIES = ["priority", "load_balance", "least_loaded", "fastest_response"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_draining_provider_is_never_first(editor_api, strategy):
    draining = RegistrationFactory(priority=1000, response_time_avg_ms=1)
    remaining = RegistrationFactory(priority=0)
    unregister(editor_api, draining, "?drain=true")
    query = {"routing_strategy": strategy, "include_unhealthy": "true"}
    first_agents = {
        get_decision(editor_api, **query)["providers"][0]["agent_id"] for _ in range(10)
    }

    assert first_agents == {remaining.agent_id}


def test_drained_registration_is_removed_after_drain_seconds(editor_api, settings):
    settings.AGENTLENS_DRAIN_SECONDS = 5
    registration = RegistrationFactory()
    unregister(editor_api, registration, "?drain=true")

    registration.refresh_from_db()
    assert (
        timedelta(0) < registration.drain_until - timezone.now() <= timedelta(seconds=5)
    )
    assert remove_drained_registrations() == 0
    expire_drain()
    assert remove_drained_registrations() == 1
    assert not CapabilityRegistration.objects.exists()


def test_api_hides_drained_registration_before_cleanup(editor_api):
    registration = RegistrationFactory()
    unregister(editor_api, registration, "?drain=true")
    expire_drain()
    capability_url = f"{REGISTRY_URL}/data-analysis"
    reports_url = f"{REGISTRY_URL}/{registration.pk}/reports"

    assert editor_api.get(REGISTRY_URL).json()["total"] == 0
    assert editor_api.get(f"{REGISTRY_URL}/health").json()["capabilities"] == []
    for url in (capability_url, f"{capability_url}/health"):
        assert_error_response(editor_api.get(url), 404, "CAPABILITY_NOT_FOUND")
    for response in (
        update(editor_api, registration, priority=1),
        unregister(editor_api, registration),
        editor_api.post(reports_url, {"load_score": 0.5}, format="json"),
    ):
        assert_error_response(response, 404, "REGISTRATION_NOT_FOUND")
    assert CapabilityRegistration.objects.exists()


@pytest.mark.parametrize("is_deleted", [False, True])
def test_drained_capability_can_be_registered_again(editor_api, is_deleted):
    registration = RegistrationFactory()
    unregister(editor_api, registration, "?drain=true")
    expire_drain()
    if is_deleted:
        remove_drained_registrations()
    response = register(editor_api, registration.entry)

    assert response.status_code == 201
    assert response.json()["registration_id"] != registration.pk


def test_draining_capability_cannot_be_registered_again(editor_api):
    draining = RegistrationFactory()
    unregister(editor_api, draining, "?drain=true")

    assert_error_response(
        register(editor_api, draining.entry), 409, "DUPLICATE_REGISTRATION"
    )


def test_setting_active_cancels_draining(editor_api):
    draining = RegistrationFactory()
    unregister(editor_api, draining, "?drain=true")
    body = update(editor_api, draining, status="active").json()

    draining.refresh_from_db()
    assert (body["status"], draining.drain_until) == ("active", None)


def test_second_drain_request_keeps_first_deadline(editor_api):
    draining = RegistrationFactory()
    unregister(editor_api, draining, "?drain=true")
    draining.refresh_from_db()
    first = draining.drain_until
    unregister(editor_api, draining, "?drain=true")

    draining.refresh_from_db()
    assert draining.drain_until == first


def test_unregister_with_drain_false_removes_immediately(editor_api):
    unregister(editor_api, RegistrationFactory(), "?drain=false")

    assert not CapabilityRegistration.objects.exists()

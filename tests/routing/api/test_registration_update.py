"""Updating registrations: PUT /capabilities/{registration_id}."""

from datetime import timedelta

import pytest
from django.utils import timezone

from catalog.models import Status
from tests.api_errors import assert_error_response
from tests.routing.api.requests import REGISTRY_URL, get_decision, update
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "changes",
    [
        {"priority": 0},
        {"version": "2.0.0"},
        {"metadata": {"b": 2}},
        {"metadata": {}},
        {"health_check_url": "/health"},
        {"status": "inactive"},
        {"status": "draining"},
        {"priority": 9, "status": "inactive", "version": "3.0.0"},
    ],
    ids=str,
)
def test_update_changes_only_submitted_members(editor_api, changes):
    registration = RegistrationFactory(metadata={"a": 1})
    before = update(editor_api, registration, priority=50).json()
    after = update(editor_api, registration, **changes).json()

    times = ("updated_at", "last_updated")
    expected = before | changes | {name: after[name] for name in times}
    assert after == expected


def test_update_from_one_to_true_is_stored(editor_api):
    registration = RegistrationFactory(metadata={"gpu": 1})

    assert (
        update(editor_api, registration, metadata={"gpu": True}).json()["metadata"][
            "gpu"
        ]
        is True
    )


def test_update_sets_updated_at(editor_api):
    long_ago = timezone.now() - timedelta(days=1)
    registration = RegistrationFactory(registered_at=long_ago, updated_at=long_ago)
    body = update(editor_api, registration, priority=3).json()

    assert body["registered_at"] < body["updated_at"] == body["last_updated"]


def test_empty_health_check_url_removes_health_check(editor_api):
    registration = RegistrationFactory(health_check_url="/health")

    assert (
        update(editor_api, registration, health_check_url="").json()["health_check_url"]
        is None
    )


def test_update_of_health_check_url_resets_health(editor_api):
    registration = RegistrationFactory(
        health_check_url="/old",
        next_check_at=timezone.now(),
        check_state=Status.OFFLINE,
        check_failures=3,
        checked_at=timezone.now(),
    )
    body = update(editor_api, registration, health_check_url="/new").json()

    assert (body["status"], body["last_health_check"]) == ("active", None)


def test_empty_update_returns_400(editor_api):
    assert_error_response(
        update(editor_api, RegistrationFactory()), 400, "INVALID_BODY"
    )


@pytest.mark.parametrize("name", ["agent_id", "capability"])
def test_update_of_agent_or_capability_returns_400(editor_api, name):
    registration = RegistrationFactory(capability="web-search")
    response = update(editor_api, registration, priority=1, **{name: "data-analysis"})

    body = assert_error_response(response, 400, "INVALID_BODY")
    assert body["error"] == f"{name} cannot be changed"
    unchanged = update(
        editor_api, registration, priority=1, **{name: getattr(registration, name)}
    )
    assert unchanged.json()["priority"] == 1


@pytest.mark.parametrize("status", ["active", "inactive", "draining"])
def test_status_can_be_set(editor_api, status):
    assert update(editor_api, RegistrationFactory(), status=status).json()[
        "status"
    ] == (status)


@pytest.mark.parametrize("status", ["unhealthy", "healthy", "Active", "", None, True])
def test_invalid_status_returns_400(editor_api, status):
    response = update(editor_api, RegistrationFactory(), status=status)
    body = assert_error_response(response, 400, "INVALID_BODY")

    assert list(body["details"]["errors"]) == ["status"]


@pytest.mark.parametrize("status", ["inactive", "draining"])
def test_inactive_or_draining_provider_gets_no_traffic_until_active(editor_api, status):
    registration = RegistrationFactory()
    update(editor_api, registration, status=status)
    decision = get_decision(editor_api)
    update(editor_api, registration, status="active")

    assert (decision["providers"], decision["total_providers"]) == ([], 1)
    assert decision["healthy_providers"] == 0
    assert (
        get_decision(editor_api)["providers"][0]["registration_id"] == registration.pk
    )


def test_changed_priority_applies_immediately(editor_api):
    first, second = RegistrationFactory(priority=60), RegistrationFactory()
    update(editor_api, second, priority=70)

    registration_ids = [
        provider["registration_id"]
        for provider in get_decision(editor_api)["providers"]
    ]
    assert registration_ids == [second.pk, first.pk]


@pytest.mark.parametrize("key", ["cap-reg-0000000000000000", "data-analysis", "%00"])
def test_update_of_unknown_registration_returns_404(editor_api, key):
    RegistrationFactory()
    response = editor_api.put(f"{REGISTRY_URL}/{key}", {"priority": 1}, format="json")

    assert_error_response(response, 404, "REGISTRATION_NOT_FOUND")

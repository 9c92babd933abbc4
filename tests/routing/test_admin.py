"""Registrations in the admin."""

import json

import pytest
from django.urls import reverse

from catalog.models import Status
from routing.models import CapabilityRegistration
from tests.factories import CatalogEntryFactory
from tests.queries import count_queries
from tests.routing.factories import RegistrationFactory
from tests.routing.streams import get_event_types, open_websocket
from tests.websockets import receive_events

pytestmark = pytest.mark.django_db

CHANGELIST_URL = reverse("admin:routing_capabilityregistration_changelist")
ADD_URL = reverse("admin:routing_capabilityregistration_add")
with_each_editor_role = pytest.mark.parametrize("role", ["Editor", "Admin"])


def get_url(page, registration):
    return reverse(
        f"admin:routing_capabilityregistration_{page}", args=[registration.pk]
    )


def build_form_data(**members):
    """Return the data of an unchanged form, with these values replaced."""
    return {
        "capability": "data-analysis",
        "version": "1.0.0",
        "priority": "50",
        "desired_state": "active",
        "metadata": "{}",
        "health_check_url": "",
    } | members


@with_each_editor_role
@pytest.mark.django_db(transaction=True)
def test_admin_changes_publish_events(agentlens_url, session_client_for_role, role):
    client, entry = session_client_for_role(role), CatalogEntryFactory()
    with open_websocket(agentlens_url) as websocket:
        added = client.post(
            ADD_URL, build_form_data(entry=entry.pk, metadata='{"a": 1}')
        )
        registration = CapabilityRegistration.objects.get()
        changed = client.post(
            get_url("change", registration),
            build_form_data(priority="99", metadata="{}"),
        )
        registration.refresh_from_db()
        deleted = client.post(get_url("delete", registration), {"post": "yes"})
        events = receive_events(websocket, 3)

    assert [response.status_code for response in (added, changed, deleted)] == [
        302,
        302,
        302,
    ]
    assert (registration.entry, registration.priority, registration.metadata) == (
        entry,
        99,
        {},
    )
    assert get_event_types(events) == ["registered", "updated", "unregistered"]
    assert events[1]["data"]["changed"] == ["metadata", "priority"]
    assert not CapabilityRegistration.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_delete_action_publishes_event_for_each_registration(
    agentlens_url, editor_client
):
    registrations = [RegistrationFactory(capability=f"task-{n}") for n in range(3)]
    registrations[0].request_seconds.create(second=1, total=1)
    action = {
        "action": "delete_selected",
        "_selected_action": [registration.pk for registration in registrations],
        "post": "yes",
    }
    with open_websocket(agentlens_url) as websocket:
        assert editor_client.post(CHANGELIST_URL, action).status_code == 302
        events = receive_events(websocket, 3)

    assert get_event_types(events) == ["unregistered"] * 3


def test_viewer_is_redirected_from_admin(viewer_client):
    for url in (CHANGELIST_URL, ADD_URL):
        assert viewer_client.get(url).status_code == 302


def test_saving_unchanged_form_changes_nothing(editor_client):
    registration = RegistrationFactory()
    before = CapabilityRegistration.objects.values().get()
    assert (
        editor_client.post(
            get_url("change", registration), build_form_data()
        ).status_code
        == 302
    )

    assert CapabilityRegistration.objects.values().get() == before


def test_admin_form_does_not_change_agent_and_capability(editor_client):
    registration = RegistrationFactory()
    other = CatalogEntryFactory()
    editor_client.post(
        get_url("change", registration),
        build_form_data(entry=other.pk, capability="other"),
    )

    assert CapabilityRegistration.objects.get().capability == "data-analysis"
    assert CapabilityRegistration.objects.get().entry == registration.entry


def test_health_check_added_in_admin_is_due_immediately(editor_client):
    entry = CatalogEntryFactory()
    editor_client.post(
        ADD_URL, build_form_data(entry=entry.pk, health_check_url="/health")
    )

    assert CapabilityRegistration.objects.get().next_check_at is not None


@pytest.mark.parametrize(
    "invalid",
    [
        {"priority": "1001"},
        {"priority": "-1"},
        {"capability": "Data Analysis"},
        {"capability": "a/b"},
        {"capability": "health"},
        {"capability": "cap-reg-1"},
        {"version": "latest"},
        {"metadata": "[1]"},
        {"metadata": "null"},
        {"metadata": "7"},
        {"metadata": '{"a": "\\ud800"}'},
        {"metadata": '{"a": "\\u0000"}'},
        {"metadata": '{"a": NaN}'},
        {"metadata": '{"a": 1e999}'},
        {"metadata": '{"a": 1, "a": 2}'},
        {"metadata": '{"a": ' * 70 + "1" + "}" * 70},
        {"health_check_url": "http://["},
        {"health_check_url": "file:///etc/passwd"},
        {"health_check_url": "//evil.example/health"},
    ],
    ids=json.dumps,
)
def test_invalid_value_is_shown_as_form_error(editor_client, invalid):
    response = editor_client.post(
        ADD_URL, build_form_data(entry=CatalogEntryFactory().pk) | invalid
    )

    assert response.status_code == 200
    assert b"errorlist" in response.content
    assert not CapabilityRegistration.objects.exists()


def test_duplicate_registration_is_shown_as_form_error(editor_client):
    registration = RegistrationFactory()
    response = editor_client.post(ADD_URL, build_form_data(entry=registration.entry.pk))

    assert response.status_code == 200
    assert b"errorlist" in response.content
    assert CapabilityRegistration.objects.count() == 1


def test_changelist_shows_health_and_searches_agents(editor_client):
    offline = CatalogEntryFactory(display_name="Offline", status=Status.OFFLINE)
    RegistrationFactory(entry=offline)
    RegistrationFactory(capability="web-search")
    page = editor_client.get(CHANGELIST_URL, {"q": "offline"}).content.decode()

    assert '<td class="field-health">unhealthy</td>' in page
    assert "web-search" not in page


def test_changelist_query_count_is_independent_of_number_of_rows(editor_client):
    counts = []
    for count in (2, 20):
        RegistrationFactory.create_batch(count)
        counts.append(count_queries(editor_client, CHANGELIST_URL))

    assert counts[0] == counts[1]

"""Registrations at the desk: by the same door as the API, and told as there."""

import json

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from catalog.models import Status
from routing.models import CapabilityRegistration
from tests.factories import CatalogEntryFactory, UserFactory
from tests.routing.factories import RegistrationFactory
from tests.routing.test_events import follow, heard, kinds

pytestmark = pytest.mark.django_db

LIST = reverse("admin:routing_capabilityregistration_changelist")
ADD = reverse("admin:routing_capabilityregistration_add")
writers = pytest.mark.parametrize("role", ["Editor", "Admin"])


def desk_of(role):
    browser = Client()
    browser.force_login(UserFactory(role=role))
    return browser


@pytest.fixture
def desk(db):
    return desk_of("Editor")


def place(verb, one):
    return reverse(f"admin:routing_capabilityregistration_{verb}", args=[one.pk])


def fields(**members):
    """What the form sends when nobody changes a thing."""
    return {
        "capability": "data-analysis",
        "version": "1.0.0",
        "priority": "50",
        "intent": "active",
        "metadata": "{}",
        "health_check_url": "",
    } | members


@writers
@pytest.mark.django_db(transaction=True)
def test_adding_changing_and_deleting_work_and_are_told(server, role):
    desk, entry = desk_of(role), CatalogEntryFactory()
    with follow(server) as stream:
        added = desk.post(ADD, fields(entry=entry.pk, metadata='{"a": 1}'))
        one = CapabilityRegistration.objects.get()
        changed = desk.post(place("change", one), fields(priority="99", metadata="{}"))
        one.refresh_from_db()
        deleted = desk.post(place("delete", one), {"post": "yes"})
        told = heard(stream, 3)

    assert [a.status_code for a in (added, changed, deleted)] == [302, 302, 302]
    assert (one.entry, one.priority, one.metadata) == (entry, 99, {})
    assert kinds(told) == ["registered", "updated", "unregistered"]
    assert told[1]["data"]["changed"] == ["metadata", "priority"]
    assert not CapabilityRegistration.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_deleting_many_at_once_is_told_for_each(server, desk):
    ones = [RegistrationFactory(capability=f"task-{n}") for n in range(3)]
    ones[0].request_seconds.create(second=1, total=1)
    action = {
        "action": "delete_selected",
        "_selected_action": [one.pk for one in ones],
        "post": "yes",
    }
    with follow(server) as stream:
        assert desk.post(LIST, action).status_code == 302
        told = heard(stream, 3)

    assert kinds(told) == ["unregistered"] * 3


def test_viewers_may_not_enter():
    viewer = desk_of("Viewer")
    for at in (LIST, ADD):
        assert viewer.get(at).status_code == 302


def test_saving_without_a_change_changes_nothing(desk):
    one = RegistrationFactory()
    before = CapabilityRegistration.objects.values().get()
    assert desk.post(place("change", one), fields()).status_code == 302

    assert CapabilityRegistration.objects.values().get() == before


def test_agent_and_name_are_fixed_once_made(desk):
    one = RegistrationFactory()
    other = CatalogEntryFactory()
    desk.post(place("change", one), fields(entry=other.pk, capability="other"))

    assert CapabilityRegistration.objects.get().capability == "data-analysis"
    assert CapabilityRegistration.objects.get().entry == one.entry


def test_a_new_health_check_is_asked_at_once(desk):
    entry = CatalogEntryFactory()
    desk.post(ADD, fields(entry=entry.pk, health_check_url="/health"))

    assert CapabilityRegistration.objects.get().next_check_at is not None


@pytest.mark.parametrize(
    "wrong",
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
def test_what_the_api_refuses_the_desk_refuses_in_its_form(desk, wrong):
    answer = desk.post(ADD, fields(entry=CatalogEntryFactory().pk) | wrong)

    assert answer.status_code == 200
    assert b"errorlist" in answer.content
    assert not CapabilityRegistration.objects.exists()


def test_the_same_offer_twice_is_refused_in_the_form(desk):
    one = RegistrationFactory()
    answer = desk.post(ADD, fields(entry=one.entry.pk))

    assert answer.status_code == 200
    assert b"errorlist" in answer.content
    assert CapabilityRegistration.objects.count() == 1


def test_the_list_shows_health_and_is_searched(desk):
    away = CatalogEntryFactory(display_name="Away", status=Status.OFFLINE)
    RegistrationFactory(entry=away)
    RegistrationFactory(capability="web-search")
    page = desk.get(LIST, {"q": "away"}).content.decode()

    assert '<td class="field-health">unhealthy</td>' in page
    assert "web-search" not in page


def test_the_list_takes_as_many_queries_for_many_as_for_few(desk):
    counts = []
    for count in (2, 20):
        RegistrationFactory.create_batch(count)
        with CaptureQueriesContext(connection) as captured:
            desk.get(LIST)
        counts.append(len(captured))

    assert counts[0] == counts[1]

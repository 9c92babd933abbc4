"""Definitions of another agent than the one whose entry they update."""

import json
from uuid import uuid4

import pytest
from django.test import TestCase

from catalog.events import EntryIngested, bus, consumers
from catalog.registration.service import dry_run_refresh, import_url, register
from tests.factories import card, card_bytes, skill
from tests.servers import reply

pytestmark = pytest.mark.django_db


@pytest.fixture
def ingested_events(monkeypatch):
    events = []
    monkeypatch.setattr(bus, "subscribers", [events.append])
    return events


def register_card(name, *skills):
    document = card(name=name, skills=[skill(skill_name) for skill_name in skills])
    return register(json.dumps(document).encode())


def get_messages(result):
    return [problem.message for problem in result.warnings]


def test_other_agent_in_same_entry_is_taken_with_warning_t5():
    artha = register_card("Artha", "Plan")
    sage = register_card("Sage", "Advise")

    assert (sage.outcome, sage.entry.pk) == ("updated", artha.entry.pk)
    assert sage.replaced_name == "Artha"
    assert get_messages(sage) == ['replaces "Artha"']


def test_other_agent_without_capabilities_is_replacement():
    register_card("Artha")

    assert register_card("Sage").replaced_name == "Artha"


@pytest.mark.parametrize(
    ("name", "skills"),
    [
        ("Sage", ["Plan", "Advise"]),
        ("Artha", ["Advise"]),
        ("Artha", []),
    ],
)
def test_same_name_or_shared_capability_is_no_replacement(name, skills):
    register_card("Artha", "Plan")
    result = register_card(name, *skills)

    assert (result.outcome, result.replaced_name) == ("updated", "")
    assert result.warnings == []


def test_name_of_curator_is_reported():
    entry = register_card("Artha", "Plan").entry
    entry.display_name = "Artha of the gateway"
    entry.save()

    assert register_card("Sage", "Advise").replaced_name == "Artha of the gateway"
    assert register_card("Sage", "Judge").replaced_name == ""


def test_event_names_the_replaced_agent_t5(ingested_events):
    register_card("Artha", "Plan")
    with TestCase.captureOnCommitCallbacks(execute=True):
        entry = register_card("Sage", "Advise").entry

    names = {event.entry_id: event.replaced_name for event in ingested_events}
    assert names == {entry.pk: "Artha"}


def test_live_event_names_the_replaced_agent(monkeypatch):
    messages = []
    monkeypatch.setattr(
        consumers, "send_to_group", lambda group, message: messages.append(message)
    )
    entry_id = uuid4()
    consumers.send_entry_event(EntryIngested(entry_id, "updated", "Artha"))

    (message,) = messages
    assert message["type"] == "definition_changed"
    assert message["entry_id"] == str(entry_id)
    assert message["replaced_name"] == "Artha"


def test_refresh_preview_reports_replacement(card_server):
    entry = import_url(card_server.url("/card")).entry
    body = card_bytes(name="Sage", skills=[skill("Advise")])
    card_server.routes["/card"] = reply(body=body)

    result = dry_run_refresh(entry)
    assert result.replaced_name == "Translator"
    assert get_messages(result) == ['replaces "Translator"']

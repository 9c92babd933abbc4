import pytest
from django.db import transaction

from catalog.events import bus
from catalog.events.bus import EntryIngested, EntryRemoved, StateChanged
from catalog.health.status import record_probe
from catalog.ingestion.curation import curate
from catalog.models import CatalogEntry, Status
from catalog.registration.service import register
from tests.factories import CatalogEntryFactory, UserFactory, card_bytes, skill
from tests.probes import failed, well

pytestmark = pytest.mark.django_db


@pytest.fixture
def heard(monkeypatch):
    """What anybody who signed up would hear, in order."""
    told = []
    monkeypatch.setattr(bus, "subscribers", [told.append])
    return told


def test_a_definition_is_announced_with_what_it_did(
    heard, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        entry = register(card_bytes()).entry
        register(card_bytes())
        register(card_bytes(skills=[skill("Another")]))

    assert heard == [
        EntryIngested(entry.pk, "created"),
        EntryIngested(entry.pk, "unchanged"),
        EntryIngested(entry.pk, "updated"),
    ]


def test_a_probe_is_announced_only_when_it_changes_the_state(
    heard, django_capture_on_commit_callbacks
):
    entry = CatalogEntryFactory(status=Status.UNKNOWN)
    with django_capture_on_commit_callbacks(execute=True):
        for probe in (well(120), well(110), failed(), failed()):
            record_probe(entry, probe)

    assert heard == [
        StateChanged(entry.pk, "unknown", "active", 120),
        StateChanged(entry.pk, "active", "degraded", 110, "HTTP 503"),
    ]


def test_a_person_changing_the_state_is_announced_too(
    heard, django_capture_on_commit_callbacks
):
    entry = CatalogEntryFactory(latency_ms=7)
    with django_capture_on_commit_callbacks(execute=True):
        curate(entry, {"status": "deprecated"}, by=UserFactory())
        curate(entry, {"display_name": "Other"}, by=UserFactory())

    assert heard == [StateChanged(entry.pk, "active", "deprecated", 7)]


def test_what_is_removed_is_announced(heard, django_capture_on_commit_callbacks):
    first, second = CatalogEntryFactory.create_batch(2)
    with django_capture_on_commit_callbacks(execute=True):
        first.delete()
        CatalogEntry.objects.filter(pk=second.pk).delete()

    assert heard == [EntryRemoved(first.pk), EntryRemoved(second.pk)]


@pytest.mark.django_db(transaction=True)
def test_nothing_is_said_of_what_was_rolled_back(heard):
    entry = CatalogEntryFactory()
    with pytest.raises(ZeroDivisionError):
        fail_after_removing(entry)

    assert heard == []


def fail_after_removing(entry):
    with transaction.atomic():
        entry.delete()
        raise ZeroDivisionError


def test_one_who_fails_to_listen_costs_nobody_else(
    heard, django_capture_on_commit_callbacks, caplog
):
    bus.subscribers.insert(0, lambda told: 1 / 0)
    with django_capture_on_commit_callbacks(execute=True):
        register(card_bytes())

    assert len(heard) == 1
    assert "A subscriber failed on EntryIngested" in caplog.text


def test_signing_up_twice_is_signing_up_once(heard):
    def listener(told):
        heard.append(told)

    bus.subscribe(listener)
    bus.subscribe(listener)

    assert bus.subscribers.count(listener) == 1

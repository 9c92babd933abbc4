import pytest
from django.db import transaction

from catalog.events import bus
from catalog.events.bus import ChangeSummary, EntryIngested, EntryRemoved, StateChanged
from catalog.health.status import record_probe
from catalog.ingestion.curation import curate
from catalog.models import CatalogEntry, Status
from catalog.registration.service import register
from tests.factories import CatalogEntryFactory, UserFactory, card_bytes, skill
from tests.probes import failure, success

pytestmark = pytest.mark.django_db


@pytest.fixture
def events(monkeypatch):
    """Return a list that collects the published events in order."""
    published = []
    monkeypatch.setattr(bus, "subscribers", [published.append])
    return published


def test_register_publishes_entry_ingested_with_outcome(
    events, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        entry = register(card_bytes()).entry
        register(card_bytes())
        register(card_bytes(skills=[skill("Another")]))

    assert events == [
        EntryIngested(entry.pk, "created"),
        EntryIngested(entry.pk, "unchanged"),
        EntryIngested(
            entry.pk,
            "updated",
            changes=ChangeSummary(
                added=1,
                removed=1,
                breaking_count=1,
                breaking_reasons=("A2A Skill Translate text: removed",),
            ),
        ),
    ]


def test_probe_publishes_event_only_when_status_changes(
    events, django_capture_on_commit_callbacks
):
    entry = CatalogEntryFactory(status=Status.UNKNOWN)
    with django_capture_on_commit_callbacks(execute=True):
        for probe in (success(120), success(110), failure(), failure()):
            record_probe(entry, probe)

    assert events == [
        StateChanged(entry.pk, "unknown", "active", 120),
        StateChanged(entry.pk, "active", "degraded", 110, "HTTP 503"),
    ]


def test_curating_status_publishes_state_changed(
    events, django_capture_on_commit_callbacks
):
    entry = CatalogEntryFactory(latency_ms=7)
    with django_capture_on_commit_callbacks(execute=True):
        curate(entry, {"status": "deprecated"}, by=UserFactory())
        curate(entry, {"display_name": "Other"}, by=UserFactory())

    assert events == [StateChanged(entry.pk, "active", "deprecated", 7)]


def test_deleting_entry_publishes_entry_removed(
    events, django_capture_on_commit_callbacks
):
    first, second = CatalogEntryFactory.create_batch(2)
    with django_capture_on_commit_callbacks(execute=True):
        first.delete()
        CatalogEntry.objects.filter(pk=second.pk).delete()

    assert events == [EntryRemoved(first.pk), EntryRemoved(second.pk)]


@pytest.mark.django_db(transaction=True)
def test_rolled_back_transaction_publishes_nothing(events):
    entry = CatalogEntryFactory()
    with pytest.raises(ZeroDivisionError):
        delete_and_fail(entry)

    assert events == []


def delete_and_fail(entry):
    with transaction.atomic():
        entry.delete()
        raise ZeroDivisionError


def fail(event):
    raise ZeroDivisionError


def test_failing_subscriber_does_not_affect_others(
    events, django_capture_on_commit_callbacks, caplog
):
    bus.subscribers.insert(0, fail)
    with django_capture_on_commit_callbacks(execute=True):
        register(card_bytes())

    assert len(events) == 1
    assert "The subscriber fail failed on EntryIngested" in caplog.text


def test_subscribing_twice_registers_subscriber_once(events):
    def subscriber(event):
        events.append(event)

    bus.subscribe(subscriber)
    bus.subscribe(subscriber)

    assert bus.subscribers.count(subscriber) == 1

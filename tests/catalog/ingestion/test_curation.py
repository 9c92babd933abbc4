from datetime import timedelta

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.db import IntegrityError
from django.utils import timezone

from catalog.ingestion.curation import curate
from catalog.models import CatalogEntry, Source, Status
from tests.factories import CatalogEntryFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def curator():
    return UserFactory(role="Editor")


def list_log_messages(entry) -> list[str]:
    entries = LogEntry.objects.filter(object_id=str(entry.pk)).order_by("pk")
    return list(entries.values_list("change_message", flat=True))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("display_name", "Our scout"),
        ("description", ""),
        ("categories", ["a", "b"]),
        ("metadata", {"owner": {"team": "search"}}),
        ("status", Status.DEPRECATED),
        ("validity_from", timezone.now()),
        ("validity_to", timezone.now() + timedelta(days=1)),
    ],
)
def test_every_curated_field_can_be_changed(curator, field, value):
    entry = CatalogEntryFactory(description="Old")
    curate(entry, {field: value}, by=curator)

    assert getattr(CatalogEntry.objects.get(), field) == value


def test_curate_writes_only_changed_fields(curator):
    entry = CatalogEntryFactory(description="Old")
    CatalogEntry.objects.update(description="Written concurrently")
    curate(entry, {"display_name": "Mine"}, by=curator)

    stored = CatalogEntry.objects.get()
    assert stored.display_name == "Mine"
    assert stored.description == "Written concurrently"
    assert stored.updated_at > stored.created_at


def test_curate_compares_with_stored_instead_of_loaded_values(curator):
    entry = CatalogEntryFactory(status=Status.ACTIVE)
    CatalogEntry.objects.update(status=Status.OFFLINE)
    curate(entry, {"status": Status.ACTIVE}, by=curator)

    assert CatalogEntry.objects.get().status == Status.ACTIVE


def test_curate_logs_user_changes_and_reason(curator):
    entry = CatalogEntryFactory()
    changes = {"status": Status.DEPRECATED, "display_name": "Old scout"}
    curate(entry, changes, by=curator, reason="Replaced by Scout 2")

    log_entry = LogEntry.objects.get()
    assert (log_entry.user, log_entry.action_flag) == (curator, CHANGE)
    assert log_entry.get_edited_object() == entry
    assert log_entry.change_message == (
        "Status set to deprecated. Changed display name. Reason: Replaced by Scout 2"
    )


def test_change_without_reason_is_logged_without_reason(curator):
    entry = CatalogEntryFactory()
    curate(entry, {"categories": ["a"], "validity_to": timezone.now()}, by=curator)

    assert list_log_messages(entry) == ["Changed categories, validity to."]


@pytest.mark.parametrize("changes", [{}, {"display_name": "Scout", "categories": []}])
def test_unchanged_values_are_not_written_or_logged(curator, changes):
    entry = CatalogEntryFactory(display_name="Scout")
    before = CatalogEntry.objects.get().updated_at
    curate(entry, changes, by=curator, reason="None needed")

    assert CatalogEntry.objects.get().updated_at == before
    assert list_log_messages(entry) == []


def test_changing_name_keeps_probe_lease(curator):
    """The prober that has the lease is about to probe the entry."""
    entry = CatalogEntryFactory(next_probe_at=timezone.now())
    compute_lease_end = timezone.now() + timedelta(seconds=90)
    CatalogEntry.objects.update(next_probe_at=compute_lease_end)
    curate(entry, {"display_name": "Other"}, by=curator)

    assert CatalogEntry.objects.get().next_probe_at == compute_lease_end


def test_activating_clears_failures(curator):
    entry = CatalogEntryFactory(
        status=Status.OFFLINE, consecutive_failures=7, last_error="HTTP 500"
    )
    curate(entry, {"status": Status.ACTIVE}, by=curator)

    stored = CatalogEntry.objects.get()
    assert (stored.consecutive_failures, stored.last_error) == (0, "")


def test_deprecating_removes_next_probe(curator):
    entry = CatalogEntryFactory(next_probe_at=timezone.now())
    curate(entry, {"status": Status.DEPRECATED}, by=curator)

    assert CatalogEntry.objects.get().next_probe_at is None


@pytest.mark.parametrize(
    "status", [status for status in Status if status != Status.ACTIVE]
)
def test_activating_makes_probe_due_at_once(curator, status):
    entry = CatalogEntryFactory(status=status)
    curate(entry, {"status": Status.ACTIVE}, by=curator)

    stored = CatalogEntry.objects.get()
    assert stored.status == Status.ACTIVE
    assert stored.next_probe_at <= timezone.now()


@pytest.mark.parametrize(
    "fields", [{"source": Source.DEMO}, {"agent_type__endpoint": "mcp:local"}]
)
def test_activating_entry_that_cannot_be_probed_schedules_no_probe(curator, fields):
    entry = CatalogEntryFactory(status=Status.DEPRECATED, **fields)
    curate(entry, {"status": Status.ACTIVE}, by=curator)

    assert CatalogEntry.objects.get().next_probe_at is None


def test_changing_name_keeps_next_probe(curator):
    due = timezone.now() + timedelta(minutes=1)
    entry = CatalogEntryFactory(next_probe_at=due)
    curate(entry, {"display_name": "Scout"}, by=curator)

    assert CatalogEntry.objects.get().next_probe_at == due


@pytest.mark.django_db(transaction=True)
def test_change_rejected_by_database_is_not_logged(curator):
    entry = CatalogEntryFactory(display_name="Scout")
    with pytest.raises(IntegrityError):
        curate(entry, {"display_name": ""}, by=curator)

    assert CatalogEntry.objects.get().display_name == "Scout"
    assert list_log_messages(entry) == []


def test_curating_deleted_entry_raises_does_not_exist():
    entry = CatalogEntryFactory()
    CatalogEntry.objects.all().delete()

    with pytest.raises(CatalogEntry.DoesNotExist):
        curate(entry, {"display_name": "Too late"}, by=UserFactory())
    assert not CatalogEntry.objects.exists()

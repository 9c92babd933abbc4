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


def history(entry) -> list[str]:
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
def test_each_curated_field_can_be_changed(curator, field, value):
    entry = CatalogEntryFactory(description="Words")
    curate(entry, {field: value}, by=curator)

    assert getattr(CatalogEntry.objects.get(), field) == value


def test_nothing_but_the_change_is_written(curator):
    entry = CatalogEntryFactory(description="Old")
    CatalogEntry.objects.update(description="Written by another meanwhile")
    curate(entry, {"display_name": "Mine"}, by=curator)

    stored = CatalogEntry.objects.get()
    assert stored.display_name == "Mine"
    assert stored.description == "Written by another meanwhile"
    assert stored.updated_at > stored.created_at


def test_what_counts_is_how_it_is_and_not_how_it_was_when_looked_at(curator):
    entry = CatalogEntryFactory(status=Status.ACTIVE)
    CatalogEntry.objects.update(status=Status.OFFLINE)
    curate(entry, {"status": Status.ACTIVE}, by=curator)

    assert CatalogEntry.objects.get().status == Status.ACTIVE


def test_who_what_and_why_is_kept(curator):
    entry = CatalogEntryFactory()
    changes = {"status": Status.DEPRECATED, "display_name": "Old scout"}
    curate(entry, changes, by=curator, reason="Replaced by Scout 2")

    told = LogEntry.objects.get()
    assert (told.user, told.action_flag) == (curator, CHANGE)
    assert told.get_edited_object() == entry
    assert told.change_message == (
        "Status set to deprecated. Changed display name. Reason: Replaced by Scout 2"
    )


def test_a_change_without_a_reason_is_told_plainly(curator):
    entry = CatalogEntryFactory()
    curate(entry, {"categories": ["a"], "validity_to": timezone.now()}, by=curator)

    assert history(entry) == ["Changed categories, validity to."]


@pytest.mark.parametrize("changes", [{}, {"display_name": "Scout", "categories": []}])
def test_what_is_so_already_is_no_change(curator, changes):
    entry = CatalogEntryFactory(display_name="Scout")
    before = CatalogEntry.objects.get().updated_at
    curate(entry, changes, by=curator, reason="None needed")

    assert CatalogEntry.objects.get().updated_at == before
    assert history(entry) == []


def test_what_has_nothing_to_do_with_its_state_leaves_the_lease_alone(curator):
    """Whoever holds it is about to probe it."""
    entry = CatalogEntryFactory(next_probe_at=timezone.now())
    until = timezone.now() + timedelta(seconds=90)
    CatalogEntry.objects.update(next_probe_at=until)
    curate(entry, {"display_name": "Other"}, by=curator)

    assert CatalogEntry.objects.get().next_probe_at == until


def test_active_again_forgets_how_it_failed(curator):
    entry = CatalogEntryFactory(
        status=Status.OFFLINE, consecutive_failures=7, last_error="HTTP 500"
    )
    curate(entry, {"status": Status.ACTIVE}, by=curator)

    stored = CatalogEntry.objects.get()
    assert (stored.consecutive_failures, stored.last_error) == (0, "")


def test_deprecated_is_no_longer_due(curator):
    entry = CatalogEntryFactory(next_probe_at=timezone.now())
    curate(entry, {"status": Status.DEPRECATED}, by=curator)

    assert CatalogEntry.objects.get().next_probe_at is None


@pytest.mark.parametrize("status", [s for s in Status if s != Status.ACTIVE])
def test_active_again_from_any_state_is_due_at_once(curator, status):
    entry = CatalogEntryFactory(status=status)
    curate(entry, {"status": Status.ACTIVE}, by=curator)

    stored = CatalogEntry.objects.get()
    assert stored.status == Status.ACTIVE
    assert stored.next_probe_at <= timezone.now()


@pytest.mark.parametrize(
    "never", [{"source": Source.DEMO}, {"agent_type__endpoint": "mcp:local"}]
)
def test_what_is_never_probed_is_not_due_when_active_again(curator, never):
    entry = CatalogEntryFactory(status=Status.DEPRECATED, **never)
    curate(entry, {"status": Status.ACTIVE}, by=curator)

    assert CatalogEntry.objects.get().next_probe_at is None


def test_other_changes_leave_the_next_probe_alone(curator):
    due = timezone.now() + timedelta(minutes=1)
    entry = CatalogEntryFactory(next_probe_at=due)
    curate(entry, {"display_name": "Scout"}, by=curator)

    assert CatalogEntry.objects.get().next_probe_at == due


@pytest.mark.django_db(transaction=True)
def test_a_change_the_database_refuses_leaves_no_history(curator):
    entry = CatalogEntryFactory(display_name="Scout")
    with pytest.raises(IntegrityError):
        curate(entry, {"display_name": ""}, by=curator)

    assert CatalogEntry.objects.get().display_name == "Scout"
    assert history(entry) == []


def test_an_entry_that_went_away_meanwhile_is_not_brought_back():
    entry = CatalogEntryFactory()
    CatalogEntry.objects.all().delete()

    with pytest.raises(CatalogEntry.DoesNotExist):
        curate(entry, {"display_name": "Too late"}, by=UserFactory())
    assert not CatalogEntry.objects.exists()

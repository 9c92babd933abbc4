import asyncio
from datetime import timedelta

import pytest
from django.utils import timezone

from catalog.models import CatalogEntry, Source, Status
from catalog.registration.refresh import claim_due_entries, refresh_due_entries
from catalog.registration.service import import_url, register
from tests.factories import CatalogEntryFactory, card_bytes, skill
from tests.servers import reply

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def due_entry(imported_entry):
    """Return an imported entry that is due for a refresh."""
    make_due()
    return imported_entry


def make_due():
    CatalogEntry.objects.update(next_refresh_at=timezone.now() - timedelta(days=1))


def run_refresh():
    return asyncio.run(refresh_due_entries())


def test_changed_definition_is_stored_with_its_changes(card_server, due_entry):
    card_server.routes["/card"] = reply(body=card_bytes(skills=[skill("Other")]))

    assert run_refresh() == 1
    (change,) = due_entry.changes.all()
    assert [removed["name"] for removed in change.removed] == ["Translate text"]
    due_entry.refresh_from_db()
    assert change.digest == due_entry.agent_type.digest
    assert due_entry.next_refresh_at > timezone.now()


def test_entry_not_due_is_not_refreshed(card_server, due_entry):
    run_refresh()

    assert run_refresh() == 0


def test_entry_without_refresh_time_is_refreshed(due_entry):
    CatalogEntry.objects.update(next_refresh_at=None)

    assert run_refresh() == 1


def respond_by_authorization(request):
    """Serve a card with two skills to authorized clients and one skill to others."""
    is_authorized = request.headers["Authorization"] == "Bearer sesame"
    skills = [skill("Greet"), skill("Guard")] if is_authorized else [skill("Greet")]
    return [reply(body=card_bytes(skills=skills))]


def test_entry_imported_with_authorization_is_not_refreshed_without_it(card_server):
    card_server.routes["/card"] = respond_by_authorization
    entry = import_url(card_server.url("/card"), authorization="Bearer sesame").entry
    make_due()

    assert run_refresh() == 0
    assert entry.agent_type.capabilities.filter(kind="a2a.skill").count() == 2
    import_url(card_server.url("/card"))
    make_due()
    assert run_refresh() == 1


def test_failed_refresh_saves_problem_and_successful_one_clears_it(
    card_server, due_entry
):
    route = card_server.routes.pop("/card")
    run_refresh()
    due_entry.refresh_from_db()
    assert due_entry.definition_problem == "127.0.0.1 returned HTTP 404"

    card_server.routes["/card"] = route
    make_due()
    run_refresh()
    due_entry.refresh_from_db()
    assert due_entry.definition_problem == ""


def test_invalid_definition_changes_nothing(card_server, due_entry):
    card_server.routes["/card"] = reply(body=card_bytes(name=""))
    run_refresh()

    due_entry.refresh_from_db()
    assert due_entry.definition_problem == "The definition is not valid"
    assert not due_entry.changes.exists()


def test_definition_of_other_agent_is_reported_as_problem(card_server, due_entry):
    card_server.routes["/card"] = reply(
        body=card_bytes(url="https://other.example/a2a")
    )
    run_refresh()

    due_entry.refresh_from_db()
    assert "now publishes another agent" in due_entry.definition_problem
    assert CatalogEntry.objects.count() == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"status": Status.DEPRECATED, "source": Source.IMPORT},
        {"source": Source.DEMO},
        {"source": Source.PUSH},
        {"source": Source.IMPORT, "source_url": ""},
    ],
)
def test_deprecated_demo_and_pushed_entries_are_not_claimed_for_refresh(fields):
    CatalogEntryFactory(**{"source_url": "http://127.0.0.1:1/card"} | fields)

    assert claim_due_entries(due_at=timezone.now()) == []


def test_pushed_definition_is_not_refreshed_from_former_url(card_server, due_entry):
    register(card_bytes(version="2.0.0"))
    make_due()

    assert run_refresh() == 0

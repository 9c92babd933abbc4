"""Changes of an entry while its definition is fetched or its agent probed."""

import asyncio
from threading import BoundedSemaphore

import pytest
from django.db import connections
from django.utils import timezone

from catalog.ingestion.curation import curate
from catalog.models import CatalogEntry, Source, Status
from catalog.registration import service
from catalog.registration.refresh import refresh_due_entries
from catalog.registration.service import import_url, register
from tests.api_errors import assert_error_response
from tests.factories import UserFactory, card_bytes, skill
from tests.servers import reply

pytestmark = pytest.mark.django_db(transaction=True)

CHANGED_CARD = {"skills": [skill("Other")]}


def run_during_fetch(card_server, action, **members):
    """Run an action during the next fetch of the card, then serve it changed."""

    def respond(request):
        card_server.routes["/card"] = reply(body=card_bytes(**members))
        try:
            action()
        finally:
            connections.close_all()
        return [card_server.routes["/card"]]

    card_server.routes["/card"] = respond


def delete_entries():
    CatalogEntry.objects.all().delete()


def deprecate_entry():
    curate(CatalogEntry.objects.get(), {"status": Status.DEPRECATED}, by=UserFactory())


def push_definition():
    register(card_bytes(version="9.0.0"))


def post_refresh(client, entry):
    return client.post(f"/api/v1/catalog/{entry.pk}/refresh", format="json")


def run_scheduled_refresh():
    CatalogEntry.objects.update(next_refresh_at=timezone.now())
    asyncio.run(refresh_due_entries())


@pytest.mark.parametrize("members", [{}, CHANGED_CARD], ids=["unchanged", "changed"])
def test_entry_deleted_during_refresh_stays_deleted(
    editor_api, card_server, imported_entry, members
):
    run_during_fetch(card_server, delete_entries, **members)

    assert_error_response(post_refresh(editor_api, imported_entry), 409, "CONFLICT")
    assert not CatalogEntry.objects.exists()


def test_entry_deleted_during_scheduled_refresh_stays_deleted(
    card_server, imported_entry
):
    run_during_fetch(card_server, delete_entries, **CHANGED_CARD)
    run_scheduled_refresh()

    assert not CatalogEntry.objects.exists()


def test_entry_deprecated_during_scheduled_refresh_is_not_changed(
    card_server, imported_entry
):
    run_during_fetch(card_server, deprecate_entry, **CHANGED_CARD)
    run_scheduled_refresh()

    imported_entry.refresh_from_db()
    assert imported_entry.status == Status.DEPRECATED
    assert not imported_entry.changes.exists()


def test_deprecated_entry_can_be_refreshed_by_request(
    editor_api, card_server, imported_entry
):
    deprecate_entry()
    card_server.routes["/card"] = reply(body=card_bytes(**CHANGED_CARD))

    assert post_refresh(editor_api, imported_entry).json()["outcome"] == "updated"


def test_definition_pushed_during_refresh_is_not_overwritten(
    editor_api, card_server, imported_entry
):
    run_during_fetch(card_server, push_definition, **CHANGED_CARD)
    assert_error_response(post_refresh(editor_api, imported_entry), 409, "CONFLICT")
    run_during_fetch(card_server, push_definition, **CHANGED_CARD)
    run_scheduled_refresh()

    imported_entry.refresh_from_db()
    assert imported_entry.agent_type.version == "9.0.0"
    assert imported_entry.source == Source.PUSH


def test_definition_pushed_after_preview_is_not_overwritten(
    editor_client, card_server, imported_entry
):
    card_server.routes["/card"] = reply(body=card_bytes(**CHANGED_CARD))
    url = f"/catalog/{imported_entry.pk}/refresh"
    preview = editor_client.post(url).context["preview"]
    push_definition()
    response = editor_client.post(url, {"signed": preview.signed}, follow=True)

    message = "The agent was registered or refreshed in the meantime. Refresh again."
    assert message in response.content.decode()
    imported_entry.refresh_from_db()
    assert imported_entry.agent_type.version == "9.0.0"


def test_concurrent_refreshes_both_succeed(editor_api, card_server, imported_entry):
    """The second refresh finds the definition that the first one stored."""

    def refresh_again():
        service.refresh_entry(CatalogEntry.objects.get())

    run_during_fetch(card_server, refresh_again, **CHANGED_CARD)

    assert post_refresh(editor_api, imported_entry).json()["outcome"] == "unchanged"


def delete_entries_and_reply(request):
    try:
        delete_entries()
    finally:
        connections.close_all()
    return [reply()]


def test_entry_deleted_during_probe_returns_404_from_api(
    editor_api, card_server, imported_entry
):
    card_server.routes["/card"] = delete_entries_and_reply
    CatalogEntry.objects.update(probe_requested_at=None)
    response = editor_api.post(f"/api/v1/catalog/{imported_entry.pk}/probe")

    assert_error_response(response, 404, "ENTRY_NOT_FOUND")


def test_entry_deleted_during_probe_returns_404_from_page(
    editor_client, card_server, imported_entry
):
    card_server.routes["/card"] = delete_entries_and_reply
    CatalogEntry.objects.update(probe_requested_at=None)

    assert editor_client.post(f"/catalog/{imported_entry.pk}/probe").status_code == 404


@pytest.fixture
def single_slot(monkeypatch):
    """Limit concurrent fetches to one; acquire the slot to leave none free."""
    slots = BoundedSemaphore(1)
    monkeypatch.setattr(service, "get_fetch_slots", lambda: slots)
    return slots


def test_import_needs_one_fetch_slot(card_server, single_slot):
    entry = import_url(card_server.url("/card")).entry

    assert entry.status == Status.ACTIVE


def test_import_without_free_slot_for_probe_creates_entry(card_server, single_slot):
    """Between the preview and its confirmation, others may take the slots."""
    resolved = service.resolve_url(card_server.url("/card"))
    with single_slot:
        entry = service.import_resolved(resolved).entry

    entry.refresh_from_db()
    assert entry.status == Status.UNKNOWN
    assert entry.next_probe_at <= timezone.now()


def test_registration_page_without_free_slot_for_probe_creates_entry(
    editor_client, card_server, single_slot
):
    response = editor_client.post(
        "/catalog/register", {"url": card_server.url("/card")}
    )
    signed = response.context["preview"].signed
    with single_slot:
        response = editor_client.post("/catalog/register", {"signed": signed})

    assert response.status_code == 302
    assert CatalogEntry.objects.exists()

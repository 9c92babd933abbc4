"""What people and programs do to an entry while its agent is being asked."""

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
from tests.servers import LOOPBACK, reply, serving

pytestmark = pytest.mark.django_db(transaction=True)

CHANGED = {"skills": [skill("Other")]}


@pytest.fixture
def server(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    settings.AGENTLENS_FETCH_TIMEOUT = 5
    with serving() as server:
        server.routes["/card"] = reply(body=card_bytes())
        yield server


@pytest.fixture
def imported(server):
    return import_url(server.url("/card")).entry


@pytest.fixture
def curator(client):
    client.force_login(UserFactory(role="Editor"))
    return client


def meanwhile(server, deed, **members):
    """The next time the card is fetched, this happens before it is there."""

    def answer(request):
        server.routes["/card"] = reply(body=card_bytes(**members))
        try:
            deed()
        finally:
            connections.close_all()
        return [server.routes["/card"]]

    server.routes["/card"] = answer


def remove():
    CatalogEntry.objects.all().delete()


def deprecate():
    curate(CatalogEntry.objects.get(), {"status": Status.DEPRECATED}, by=UserFactory())


def push():
    register(card_bytes(version="9.0.0"))


def refresh(client, entry):
    return client.post(f"/api/v1/catalog/{entry.pk}/refresh", format="json")


def refresh_by_itself():
    CatalogEntry.objects.update(next_refresh_at=timezone.now())
    asyncio.run(refresh_due_entries())


@pytest.mark.parametrize("members", [{}, CHANGED], ids=["unchanged", "changed"])
def test_what_is_removed_while_it_is_refreshed_stays_removed(
    editor, server, imported, members
):
    meanwhile(server, remove, **members)

    assert_error_response(refresh(editor, imported), 409, "CONFLICT")
    assert not CatalogEntry.objects.exists()


def test_nor_does_it_come_back_by_itself(server, imported):
    meanwhile(server, remove, **CHANGED)
    refresh_by_itself()

    assert not CatalogEntry.objects.exists()


def test_what_is_given_up_meanwhile_does_not_change_by_itself(server, imported):
    meanwhile(server, deprecate, **CHANGED)
    refresh_by_itself()

    imported.refresh_from_db()
    assert imported.status == Status.DEPRECATED
    assert not imported.changes.exists()


def test_a_person_may_refresh_what_is_given_up(editor, server, imported):
    deprecate()
    server.routes["/card"] = reply(body=card_bytes(**CHANGED))

    assert refresh(editor, imported).json()["outcome"] == "updated"


def test_what_was_pushed_meanwhile_is_newer_than_what_is_fetched(
    editor, server, imported
):
    meanwhile(server, push, **CHANGED)
    assert_error_response(refresh(editor, imported), 409, "CONFLICT")
    meanwhile(server, push, **CHANGED)
    refresh_by_itself()

    imported.refresh_from_db()
    assert imported.agent_type.version == "9.0.0"
    assert imported.source == Source.PUSH


def test_nor_is_it_overwritten_by_what_somebody_looked_at_before(
    curator, server, imported
):
    server.routes["/card"] = reply(body=card_bytes(**CHANGED))
    place = f"/catalog/{imported.pk}/refresh"
    look = curator.post(place).context["look"]
    push()
    answer = curator.post(place, {"signed": look.signed}, follow=True)

    assert "The definition was updated in the meantime" in answer.content.decode()
    imported.refresh_from_db()
    assert imported.agent_type.version == "9.0.0"


def test_two_who_refresh_at_once_both_get_an_answer(editor, server, imported):
    """What the second found is what the first wrote down."""
    meanwhile(
        server, lambda: service.refresh_entry(CatalogEntry.objects.get()), **CHANGED
    )

    assert refresh(editor, imported).json()["outcome"] == "unchanged"


def removed_while_asked(request):
    try:
        remove()
    finally:
        connections.close_all()
    return [reply()]


def test_what_is_removed_while_it_is_probed_is_not_found(editor, server, imported):
    server.routes["/card"] = removed_while_asked
    CatalogEntry.objects.update(asked_at=None)
    answer = editor.post(f"/api/v1/catalog/{imported.pk}/probe")

    assert_error_response(answer, 404, "ENTRY_NOT_FOUND")


def test_nor_by_the_button(curator, server, imported):
    server.routes["/card"] = removed_while_asked
    CatalogEntry.objects.update(asked_at=None)

    assert curator.post(f"/catalog/{imported.pk}/probe").status_code == 404


@pytest.fixture
def nobody_more(monkeypatch):
    """As many wait for agents as may."""
    places = BoundedSemaphore(1)
    monkeypatch.setattr(service, "get_fetch_slots", lambda: places)
    return places


def test_one_place_is_enough_to_import(server, nobody_more):
    entry = import_url(server.url("/card")).entry

    assert entry.status == Status.ACTIVE


def test_when_nobody_can_be_asked_any_more_what_was_found_is_kept(server, nobody_more):
    """Between looking at it and saying yes, others may have come."""
    found = service.resolve_url(server.url("/card"))
    with nobody_more:
        entry = service.import_resolved(found).entry

    entry.refresh_from_db()
    assert entry.status == Status.UNKNOWN
    assert entry.next_probe_at <= timezone.now()


def test_the_page_survives_it_too(curator, server, nobody_more):
    form = curator.post("/catalog/register", {"url": server.url("/card")})
    signed = form.context["review"].signed
    with nobody_more:
        answer = curator.post("/catalog/register", {"signed": signed})

    assert answer.status_code == 302
    assert CatalogEntry.objects.exists()

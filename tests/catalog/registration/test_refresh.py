import asyncio
from datetime import timedelta

import pytest
from django.utils import timezone

from catalog.models import CatalogEntry, Source, Status
from catalog.registration.refresh import claim_due_entries, refresh_due_entries
from catalog.registration.service import import_url, register
from tests.factories import CatalogEntryFactory, card_bytes, skill
from tests.servers import LOOPBACK, reply, serving

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    settings.AGENTLENS_FETCH_TIMEOUT = 5
    with serving() as server:
        server.routes["/card"] = reply(body=card_bytes(), etag='"1"')
        yield server


@pytest.fixture
def imported(server):
    """An agent imported so long ago that it is time to look again."""
    entry = import_url(server.url("/card")).entry
    due()
    return entry


def due():
    CatalogEntry.objects.update(next_refresh_at=timezone.now() - timedelta(days=1))


def refresh():
    return asyncio.run(refresh_due_entries())


def test_a_changed_definition_is_catalogued_and_remembered(server, imported):
    server.routes["/card"] = reply(body=card_bytes(skills=[skill("Other")]))

    assert refresh() == 1
    (change,) = imported.changes.all()
    assert [gone["name"] for gone in change.removed] == ["Translate text"]
    imported.refresh_from_db()
    assert change.digest == imported.agent_type.digest
    assert imported.next_refresh_at > timezone.now()


def test_what_is_not_due_is_left_alone(server, imported):
    refresh()

    assert refresh() == 0


def test_an_entry_from_before_refreshing_was_known_is_due(imported):
    CatalogEntry.objects.update(next_refresh_at=None)

    assert refresh() == 1


def choosy(request):
    """Tells those who know the word of two skills, and others of one."""
    known = request.headers["Authorization"] == "Bearer sesame"
    skills = [skill("Greet"), skill("Guard")] if known else [skill("Greet")]
    return [reply(body=card_bytes(skills=skills))]


def test_what_was_told_for_an_authorization_is_not_lost_without_it(server):
    server.routes["/card"] = choosy
    entry = import_url(server.url("/card"), authorization="Bearer sesame").entry
    due()

    assert refresh() == 0
    assert entry.agent_type.capabilities.filter(kind="a2a.skill").count() == 2
    import_url(server.url("/card"))
    due()
    assert refresh() == 1


def test_why_it_failed_is_told_and_gone_when_it_works_again(server, imported):
    held = server.routes.pop("/card")
    refresh()
    imported.refresh_from_db()
    assert imported.definition_problem == "127.0.0.1 returned HTTP 404"

    server.routes["/card"] = held
    due()
    refresh()
    imported.refresh_from_db()
    assert imported.definition_problem == ""


def test_a_broken_definition_changes_nothing(server, imported):
    server.routes["/card"] = reply(body=card_bytes(name=""))
    refresh()

    imported.refresh_from_db()
    assert imported.definition_problem == "The definition is not valid"
    assert not imported.changes.exists()


def test_another_agent_at_the_old_address_is_not_a_new_version(server, imported):
    server.routes["/card"] = reply(body=card_bytes(url="https://other.example/a2a"))
    refresh()

    imported.refresh_from_db()
    assert "Another agent" in imported.definition_problem
    assert CatalogEntry.objects.count() == 1


@pytest.mark.parametrize(
    "left_alone",
    [
        {"status": Status.DEPRECATED, "source": Source.IMPORT},
        {"source": Source.DEMO},
        {"source": Source.PUSH},
        {"source": Source.IMPORT, "source_url": ""},
    ],
)
def test_what_is_never_looked_at_again_by_itself(left_alone):
    CatalogEntryFactory(**{"source_url": "http://127.0.0.1:1/card"} | left_alone)

    assert claim_due_entries(due=timezone.now()) == []


def test_a_pushed_definition_is_not_overwritten_by_an_older_source(server, imported):
    register(card_bytes(version="2.0.0"))
    due()

    assert refresh() == 0

import pytest
from django.urls import reverse

from catalog.models import CatalogEntry, Source
from catalog.registration.service import import_url, register
from tests import mcp_servers
from tests.factories import CatalogEntryFactory, card_bytes, skill
from tests.servers import LOOPBACK, reply, serving

pytestmark = pytest.mark.django_db


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


def post(client, entry, **given):
    place = reverse("catalog:entry_refresh", args=[entry.pk])
    return client.post(place, given, follow=True)


def test_the_difference_is_shown_before_it_is_applied(curator, server, imported):
    server.routes["/card"] = reply(body=card_bytes(skills=[skill("Other")]))
    page = post(curator, imported)
    told = page.content.decode()

    assert "1 added, 1 removed, 0 changed" in told
    assert "<strong>breaking</strong>" in told
    assert not imported.changes.exists()

    signed = page.context["look"].signed
    done = post(curator, imported, signed=signed).content.decode()
    assert "was updated" in done
    assert imported.changes.count() == 1
    assert imported.changes.get().digest[:12] in done


def test_an_unchanged_definition_needs_no_yes(curator, imported):
    assert "The definition is as it was" in post(curator, imported).content.decode()


def test_other_words_for_the_same_capabilities_are_told(curator, server, imported):
    server.routes["/card"] = reply(body=card_bytes() + b"\n")

    assert "its capabilities are the same" in post(curator, imported).content.decode()


def test_what_stands_in_the_way_is_told(curator, server, imported):
    server.routes.clear()

    page = post(curator, imported).content.decode()
    assert "could not be refreshed: 127.0.0.1 returned HTTP 404" in page


def test_one_that_asks_for_authorisation_can_be_given_it(curator, server):
    server.routes["/mcp"] = mcp_servers.gated
    entry = import_url(server.url("/mcp"), "mcp", "Bearer sesame").entry
    closed = post(curator, entry)
    opened = post(curator, entry, authorization="Bearer sesame")

    told = "This definition was fetched with an Authorization header: provide it again."
    assert told in closed.content.decode()
    assert "The definition is as it was" in opened.content.decode()
    assert "sesame" not in opened.content.decode()


def test_a_header_that_is_none_is_told(curator, imported):
    page = post(curator, imported, authorization="Bearer ä").content.decode()

    assert "must be plain ASCII on one line" in page


def test_a_forged_preview_is_refused(curator, imported):
    page = post(curator, imported, signed="forged").content.decode()

    assert "The preview has expired" in page


def test_the_button_is_for_curators_and_for_what_is_published(reader, curator):
    published = CatalogEntryFactory()
    nowhere = CatalogEntryFactory(agent_type__endpoint="mcp:somewhere")

    def button(client, entry):
        place = reverse("catalog:entry_refresh", args=[entry.pk])
        return place in client.get(f"/catalog/{entry.pk}").content.decode()

    assert button(curator, published)
    assert not button(curator, nowhere)
    assert not button(reader, published)


def test_readers_may_not(reader, imported):
    assert post(reader, imported).status_code == 403


def test_a_definition_that_is_not_right_is_told_path_by_path(curator, server, imported):
    server.routes["/card"] = reply(body=card_bytes(skills=[{"id": "x"}]))
    told = post(curator, imported).content.decode()

    assert "It could not be refreshed" in told
    assert "$.skills[0].name" in told


@pytest.mark.parametrize("deed", ["probe", "refresh"])
def test_whoever_comes_by_another_way_than_the_button_sees_the_agent(
    curator, imported, deed
):
    """As one does who had to log in first."""
    answer = curator.get(f"/catalog/{imported.pk}/{deed}")

    assert answer.status_code == 302
    assert answer["Location"] == f"/catalog/{imported.pk}"


def test_what_was_looked_at_elsewhere_is_not_applied_here(curator, server, imported):
    server.routes["/other"] = reply(body=card_bytes(url="https://o.example/a2a"))
    form = curator.post("/catalog/register", {"url": server.url("/other")})
    answer = post(curator, imported, signed=form.context["review"].signed)

    assert "The preview has expired" in answer.content.decode()
    assert CatalogEntry.objects.count() == 1


def test_a_refresh_leaves_the_source_as_it_is(curator, server):
    server.routes["/.well-known/agent-card.json"] = reply(
        body=card_bytes(url=server.url("/a2a"))
    )
    pushed = register(card_bytes(url=server.url("/a2a"))).entry
    post(curator, pushed)

    pushed.refresh_from_db()
    assert pushed.source == Source.PUSH

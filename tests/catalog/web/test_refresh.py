import pytest
from django.urls import reverse

from catalog.models import CatalogEntry, Source
from catalog.registration.service import import_url, register
from tests import mcp_servers
from tests.factories import CatalogEntryFactory, card_bytes, skill
from tests.servers import reply

pytestmark = pytest.mark.django_db

UNCHANGED_MESSAGE = "No changes found."
EXPIRED_MESSAGE = "The preview has expired. Refresh again."


def post_refresh(client, entry, **form):
    url = reverse("catalog:entry_refresh", args=[entry.pk])
    return client.post(url, form, follow=True)


def test_refresh_shows_changes_before_applying_them(
    editor_client, card_server, imported_entry
):
    card_server.routes["/card"] = reply(body=card_bytes(skills=[skill("Other")]))
    response = post_refresh(editor_client, imported_entry)
    html = response.content.decode()

    assert "1 added, 1 removed, 0 changed" in html
    assert "<strong>breaking</strong>" in html
    assert not imported_entry.changes.exists()

    signed = response.context["preview"].signed
    html = post_refresh(editor_client, imported_entry, signed=signed).content.decode()
    assert "was updated" in html
    assert imported_entry.changes.count() == 1
    assert imported_entry.changes.get().digest[:12] in html


def test_refresh_of_unchanged_definition_needs_no_confirmation(
    editor_client, imported_entry
):
    html = post_refresh(editor_client, imported_entry).content.decode()

    assert UNCHANGED_MESSAGE in html


def test_refresh_shows_that_text_changed_but_not_capabilities(
    editor_client, card_server, imported_entry
):
    card_server.routes["/card"] = reply(body=card_bytes() + b"\n")
    html = post_refresh(editor_client, imported_entry).content.decode()

    assert "Only members that AgentLens does not read have changed" in html


def test_refresh_of_missing_definition_shows_fetch_error(
    editor_client, card_server, imported_entry
):
    card_server.routes.clear()
    html = post_refresh(editor_client, imported_entry).content.decode()

    assert "Refresh failed: 127.0.0.1 returned HTTP 404." in html


def test_refresh_page_lists_what_each_url_answered_t16(
    editor_client, card_server, imported_entry
):
    card_server.routes["/card"] = reply(body=b"<html>", content_type="text/html")
    html = post_refresh(editor_client, imported_entry).content.decode()

    assert "Refresh failed: 127.0.0.1 returned HTML instead of a definition." in html
    assert "200, HTML instead of JSON" in html
    assert f"<code>{card_server.url('/card')}</code>" in html


def test_refresh_asks_for_authorization_header_that_the_server_requires(
    editor_client, card_server
):
    card_server.routes["/mcp"] = mcp_servers.answer_authorized_request
    entry = import_url(card_server.url("/mcp"), "mcp", "Bearer sesame").entry
    rejected = post_refresh(editor_client, entry).content.decode()
    accepted = post_refresh(editor_client, entry, authorization="Bearer sesame")

    message = (
        "This definition was fetched with an Authorization header: provide it again."
    )
    assert message in rejected
    assert UNCHANGED_MESSAGE in accepted.content.decode()
    assert "sesame" not in accepted.content.decode()


def test_refresh_rejects_invalid_authorization_header(editor_client, imported_entry):
    response = post_refresh(editor_client, imported_entry, authorization="Bearer ä")

    assert "must be plain ASCII on one line" in response.content.decode()


def test_refresh_rejects_forged_preview(editor_client, imported_entry):
    response = post_refresh(editor_client, imported_entry, signed="forged")

    assert EXPIRED_MESSAGE in response.content.decode()


def test_refresh_button_is_shown_to_editors_for_refreshable_entries(
    viewer_client, editor_client
):
    refreshable = CatalogEntryFactory()
    without_url = CatalogEntryFactory(agent_type__endpoint="mcp:somewhere")

    def has_button(client, entry):
        url = reverse("catalog:entry_refresh", args=[entry.pk])
        return url in client.get(f"/catalog/{entry.pk}").content.decode()

    assert has_button(editor_client, refreshable)
    assert not has_button(editor_client, without_url)
    assert not has_button(viewer_client, refreshable)


def test_refresh_from_page_by_viewer_returns_403(viewer_client, imported_entry):
    assert post_refresh(viewer_client, imported_entry).status_code == 403


def test_refresh_of_invalid_definition_shows_problems_with_paths(
    editor_client, card_server, imported_entry
):
    card_server.routes["/card"] = reply(body=card_bytes(skills=[{"id": "x"}]))
    html = post_refresh(editor_client, imported_entry).content.decode()

    assert "Refresh failed: the published definition is invalid" in html
    assert "$.skills[0].name" in html


@pytest.mark.parametrize("action", ["probe", "refresh"])
def test_get_request_to_action_redirects_to_entry_page(
    editor_client, imported_entry, action
):
    # The login page redirects back with a GET.
    response = editor_client.get(f"/catalog/{imported_entry.pk}/{action}")

    assert response.status_code == 302
    assert response["Location"] == f"/catalog/{imported_entry.pk}"


def test_refresh_rejects_preview_of_another_agent(
    editor_client, card_server, imported_entry
):
    card_server.routes["/other"] = reply(body=card_bytes(url="https://o.example/a2a"))
    form = {"url": card_server.url("/other")}
    preview = editor_client.post("/catalog/register", form).context["preview"]
    response = post_refresh(editor_client, imported_entry, signed=preview.signed)

    assert EXPIRED_MESSAGE in response.content.decode()
    assert CatalogEntry.objects.count() == 1


def test_refresh_does_not_change_source(editor_client, card_server):
    card_server.routes["/.well-known/agent-card.json"] = reply(
        body=card_bytes(url=card_server.url("/a2a"))
    )
    entry = register(card_bytes(url=card_server.url("/a2a"))).entry
    post_refresh(editor_client, entry)

    entry.refresh_from_db()
    assert entry.source == Source.PUSH

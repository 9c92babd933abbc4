import json

import pytest
from django.urls import reverse

from catalog.models import CatalogEntry, Source
from catalog.registration.service import register
from tests.factories import card_bytes
from tests.servers import reply

pytestmark = pytest.mark.django_db

REGISTER_URL = reverse("admin:catalog_catalogentry_add")


def preview_definition(client, text):
    response = client.post(REGISTER_URL, {"definition": text})
    return response.context["preview"]


def test_admin_preview_shows_capabilities_and_stores_nothing(editor_client):
    form = {"definition": card_bytes().decode()}
    response = editor_client.post(REGISTER_URL, form)

    assert "Translate text" in response.content.decode()
    assert response.context["preview"].signed
    assert not CatalogEntry.objects.exists()


def test_confirmed_admin_preview_is_registered(editor_client):
    text = card_bytes().decode()
    form = {"signed": preview_definition(editor_client, text).signed}
    response = editor_client.post(REGISTER_URL, form, follow=True)

    entry = CatalogEntry.objects.get()
    assert entry.source == Source.PUSH
    assert entry.agent_type.definition == text.encode()
    assert "is now in the catalog" in response.content.decode()


def test_line_breaks_added_by_browser_are_not_stored(editor_client):
    text = json.dumps(json.loads(card_bytes()), indent=1)
    preview = preview_definition(editor_client, text.replace("\n", "\r\n"))
    editor_client.post(REGISTER_URL, {"signed": preview.signed})

    assert CatalogEntry.objects.get().agent_type.definition == text.encode()


def test_admin_preview_shows_errors_with_paths(editor_client):
    invalid = card_bytes(name=7, skills=[{"id": "nameless"}]).decode()
    response = editor_client.post(REGISTER_URL, {"definition": invalid})

    html = response.content.decode()
    assert "<code>$.name</code>" in html
    assert "<code>$.skills[0].name</code>" in html
    assert 'name="signed"' not in html


def test_admin_preview_of_invalid_json_shows_message(editor_client):
    response = editor_client.post(REGISTER_URL, {"definition": "{not json"})

    assert "is not JSON" in response.content.decode()


@pytest.mark.parametrize(
    "form",
    [{}, {"url": "https://a.example", "definition": "{}"}],
    ids=["no source", "two sources"],
)
def test_admin_register_form_requires_exactly_one_source(editor_client, form):
    html = editor_client.post(REGISTER_URL, form).content.decode()

    assert "Provide exactly one source: a URL, a pasted definition or a file." in html


def test_registration_from_host_url_stores_card_url_and_etag(
    editor_client, card_server
):
    card_server.routes["/.well-known/agent-card.json"] = reply(
        body=card_bytes(), etag='"one"'
    )
    response = editor_client.post(REGISTER_URL, {"url": card_server.url()})
    assert "Translate text" in response.content.decode()

    editor_client.post(REGISTER_URL, {"signed": response.context["preview"].signed})
    entry = CatalogEntry.objects.get()
    assert entry.source == Source.IMPORT
    assert entry.source_url == card_server.url("/.well-known/agent-card.json")
    assert entry.source_etag == '"one"'


def test_admin_register_form_rejects_private_url(editor_client):
    response = editor_client.post(REGISTER_URL, {"url": "http://127.0.0.1:1/"})

    assert (
        "is not a public host; an administrator can allow its network in"
        in response.content.decode()
    )


def test_admin_page_lists_what_each_url_answered_and_offers_a_stub_t16(
    editor_client, card_server
):
    card_server.routes["/mcp"] = reply(401)
    form = {"url": card_server.url("/mcp")}
    html = editor_client.post(REGISTER_URL, form).content.decode()
    assert f"<code>{card_server.url('/mcp')}</code>" in html
    assert "Register without its definition" in html

    response = editor_client.post(REGISTER_URL, form | {"allow_stub": "true"})
    form = {"signed": response.context["preview"].signed}
    editor_client.post(REGISTER_URL, form)
    assert CatalogEntry.objects.get().agent_type.endpoint == card_server.url("/mcp")


def test_forged_admin_preview_is_not_registered(editor_client):
    response = editor_client.post(REGISTER_URL, {"signed": "forged"})

    assert "Preview the agent again" in response.content.decode()
    assert not CatalogEntry.objects.exists()


def test_registering_same_definition_again_says_that_it_is_in_the_catalog(
    editor_client,
):
    register(card_bytes())
    preview = preview_definition(editor_client, card_bytes().decode())
    form = {"signed": preview.signed}
    response = editor_client.post(REGISTER_URL, form, follow=True)

    assert "is already in the catalog with this definition" in response.content.decode()


def test_admin_registration_by_viewer_is_redirected_to_login(viewer_client):
    form = {"definition": "{}"}

    assert viewer_client.post(REGISTER_URL, form).status_code == 302
    assert not CatalogEntry.objects.exists()

import ipaddress
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from django.urls import reverse

from catalog.models import CatalogEntry, Source
from catalog.registration.service import register
from tests.factories import UserFactory, card_bytes

pytestmark = pytest.mark.django_db

PAGE = reverse("admin:catalog_catalogentry_add")


@pytest.fixture
def desk(client):
    client.force_login(UserFactory(role="Editor"))
    return client


@pytest.fixture
def host(settings):
    """A host that keeps a card at the well-known path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            known = self.path == "/.well-known/agent-card.json"
            self.send_response(200 if known else 404)
            self.send_header("ETag", '"one"')
            self.end_headers()
            self.wfile.write(card_bytes() if known else b"")

        def log_message(self, *args):
            pass

    settings.AGENTLENS_ALLOWED_NETWORKS = [ipaddress.ip_network("127.0.0.0/8")]
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_pasting_shows_a_preview_and_stores_nothing(desk):
    answer = desk.post(PAGE, {"definition": card_bytes().decode()})

    assert "Translate text" in answer.content.decode()
    assert answer.context["review"].signed
    assert not CatalogEntry.objects.exists()


def test_confirming_the_preview_registers_it(desk):
    text = card_bytes().decode()
    signed = desk.post(PAGE, {"definition": text}).context["review"].signed
    answer = desk.post(PAGE, {"signed": signed}, follow=True)

    entry = CatalogEntry.objects.get()
    assert entry.source == Source.PUSH
    assert entry.agent_type.definition == text.encode()
    assert "is now in the catalog" in answer.content.decode()


def test_line_ends_that_the_browser_made_are_not_kept(desk):
    text = json.dumps(json.loads(card_bytes()), indent=1)
    pasted = desk.post(PAGE, {"definition": text.replace("\n", "\r\n")})
    desk.post(PAGE, {"signed": pasted.context["review"].signed})

    assert CatalogEntry.objects.get().agent_type.definition == text.encode()


def test_every_error_is_shown_at_its_place(desk):
    faulty = card_bytes(name=7, skills=[{"id": "nameless"}]).decode()
    page = desk.post(PAGE, {"definition": faulty}).content.decode()

    assert "<code>$.name</code>" in page
    assert "<code>$.skills[0].name</code>" in page
    assert 'name="signed"' not in page


def test_what_is_no_definition_is_refused_in_words(desk):
    page = desk.post(PAGE, {"definition": "{not json"}).content.decode()

    assert "is not JSON" in page


def test_neither_or_both_is_asked_again(desk):
    for form in ({}, {"url": "https://a.example", "definition": "{}"}):
        page = desk.post(PAGE, form).content.decode()
        assert "Give one of the three: a URL, a definition or a file." in page


def test_a_url_is_fetched_shown_and_remembered(desk, host):
    seen = desk.post(PAGE, {"url": host})
    assert "Translate text" in seen.content.decode()

    desk.post(PAGE, {"signed": seen.context["review"].signed})
    entry = CatalogEntry.objects.get()
    assert entry.source == Source.IMPORT
    assert entry.source_url == f"{host}/.well-known/agent-card.json"
    assert entry.source_etag == '"one"'


def test_a_private_url_is_refused_in_words(desk):
    page = desk.post(PAGE, {"url": "http://127.0.0.1:1/"}).content.decode()

    assert "is not at a public address" in page


def test_a_forged_preview_is_not_registered(desk):
    page = desk.post(PAGE, {"signed": "forged"}).content.decode()

    assert "Please look again" in page
    assert not CatalogEntry.objects.exists()


def test_registering_the_same_again_says_so(desk):
    register(card_bytes())
    signed = (
        desk.post(PAGE, {"definition": card_bytes().decode()}).context["review"].signed
    )
    answer = desk.post(PAGE, {"signed": signed}, follow=True)

    assert "is already in the catalog with this definition" in answer.content.decode()


def test_viewers_may_not(client):
    client.force_login(UserFactory(role="Viewer"))

    assert client.post(PAGE, {"definition": "{}"}).status_code == 302
    assert not CatalogEntry.objects.exists()

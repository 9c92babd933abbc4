import json

import pytest
from django.core import signing
from django.core.files.uploadedfile import SimpleUploadedFile

from capabilities.documents import DOCUMENT_BYTES_LIMIT
from catalog.models import CatalogEntry
from catalog.registration.preview import SALT
from catalog.registration.service import import_url
from tests import mcp_servers
from tests.registered_agents import agent_card
from tests.servers import reply

pytestmark = pytest.mark.django_db

REGISTER_URL = "/catalog/register"
DEFINITION = json.dumps(agent_card("Polyglot", "Translate text"))


def post_form(client, **form):
    """Submit the form; return the preview, if there is one, and the response."""
    response = client.post(REGISTER_URL, form)
    assert response.status_code == 200
    return response.context["preview"], response


def test_page_preview_stores_nothing(editor_client):
    preview, _ = post_form(editor_client, definition=DEFINITION)

    assert preview.parse_result.record.display_name == "Polyglot"
    assert not CatalogEntry.objects.exists()


def test_confirmed_page_preview_is_registered(editor_client):
    preview, _ = post_form(editor_client, definition=DEFINITION)
    response = editor_client.post(REGISTER_URL, {"signed": preview.signed})

    entry = CatalogEntry.objects.get()
    assert response.status_code == 302
    assert response["Location"] == f"/catalog/{entry.pk}"
    assert entry.agent_type.definition.decode() == DEFINITION
    html = editor_client.get(response["Location"]).content.decode()
    assert "is now in the catalog" in html


def test_pasted_configuration_agent_is_registered_and_not_probed(editor_client):
    text = "---\r\nname: Analyst\r\ncapabilities: [data-analysis]\r\n---\r\nPrompt"
    preview, _ = post_form(editor_client, definition=text)
    form = {"signed": preview.signed}
    response = editor_client.post(REGISTER_URL, form, follow=True)

    entry = CatalogEntry.objects.get()
    html = response.content.decode()
    assert entry.source == "config"
    assert entry.agent_type.definition.decode() == text.replace("\r\n", "\n")
    assert "/catalog/capabilities/config.capability%3A%3Adata-analysis" in html
    assert "The agent has no URL" in html
    assert "This agent is not probed because it has no URL." in html
    assert "Probe now" not in html


def test_capability_metadata_is_shown_as_text(editor_client):
    metadata = "{formats: [csv, '<b>'], fast: true, items: 1}"
    text = f"name: X\ncapabilities: ['a:v2']\ncapability_metadata: {{a: {metadata}}}"
    preview, _ = post_form(editor_client, definition=text)
    form = {"signed": preview.signed}
    html = editor_client.post(REGISTER_URL, form, follow=True).content.decode()

    for expected in ("formats: csv, &lt;b&gt;", "fast: yes", "items: 1"):
        assert expected in html
    assert '<span class="small muted">2.0.0</span>' in html


def test_forged_page_preview_is_not_registered(editor_client):
    preview, _ = post_form(editor_client, definition=DEFINITION)
    for signed in ("", "nonsense", preview.signed[:-1], preview.signed + "x"):
        response = editor_client.post(REGISTER_URL, {"signed": signed}, follow=True)
        assert "The preview has expired" in response.content.decode()

    assert not CatalogEntry.objects.exists()


def test_page_preview_made_before_an_upgrade_has_expired(editor_client):
    signed = signing.dumps({"raw": "e30=", "protocol": ""}, salt=SALT)
    response = editor_client.post(REGISTER_URL, {"signed": signed}, follow=True)

    assert "The preview has expired" in response.content.decode()
    assert not CatalogEntry.objects.exists()


def test_page_preview_shows_errors_with_paths(editor_client):
    definition = json.dumps(agent_card("", {}))
    preview, response = post_form(editor_client, definition=definition)

    assert not preview.signed
    for path in ("$.name", "$.skills[0].name"):
        assert f"<code>{path}</code>" in response.content.decode()


@pytest.mark.parametrize("text", ["{", "[]", "nonsense", '{"a": 1}', "\ud800"])
def test_page_preview_of_invalid_definition_cannot_be_confirmed(editor_client, text):
    body = text.encode("utf-8", "surrogatepass")
    file = SimpleUploadedFile("agent.json", body)
    preview, response = post_form(editor_client, file=file)

    assert not preview.signed
    assert "Invalid definition" in response.content.decode()


@pytest.mark.parametrize(
    "form",
    [{}, {"url": "https://a.example", "definition": DEFINITION}],
    ids=["no source", "two sources"],
)
def test_register_page_form_requires_exactly_one_source(editor_client, form):
    preview, response = post_form(editor_client, **form)

    assert preview is None
    message = "Provide exactly one source: a URL, a pasted definition or a file."
    assert message in response.content.decode()


def test_register_page_form_rejects_too_large_file(editor_client):
    file = SimpleUploadedFile("agent.json", b" " * (DOCUMENT_BYTES_LIMIT + 1))
    preview, response = post_form(editor_client, file=file)

    assert preview is None
    assert "The definition must not exceed" in response.content.decode()


def test_register_page_form_rejects_private_url_at_its_field(editor_client):
    preview, response = post_form(editor_client, url="http://127.0.0.1/card.json")

    assert preview is None
    assert response.context["form"].errors.keys() == {"url"}


def test_register_page_lists_what_each_url_answered_t16(editor_client, card_server):
    card_server.routes["/mcp"] = reply(403, b"Only <b>localhost</b>")
    preview, response = post_form(editor_client, url=card_server.url("/mcp?key=hush"))
    html = response.content.decode()

    assert preview is None
    assert "What each URL answered" in html
    assert f"<code>{card_server.url('/mcp?…')}</code>" in html
    assert "HTTP 404" in html
    assert "<b>localhost" not in html


def test_guarded_agent_is_registered_without_its_definition_t16(
    editor_client, card_server
):
    card_server.routes["/mcp"] = mcp_servers.answer_authorized_request
    form = {"url": card_server.url("/mcp")}
    _, failed = post_form(editor_client, **form)
    assert "Register without its definition" in failed.content.decode()

    preview, response = post_form(editor_client, **form, allow_stub="true")
    html = response.content.decode()
    assert "only its address is known" in html
    response = editor_client.post(REGISTER_URL, {"signed": preview.signed}, follow=True)
    html = response.content.decode()
    assert "“127.0.0.1” is now in the catalog." in html
    assert "Required; the server does not say which kind" in html
    assert "No capabilities are known." in html


def test_site_without_agent_offers_no_registration_of_its_address(
    editor_client, card_server
):
    _, response = post_form(editor_client, url=card_server.url())

    assert "Register without its definition" not in response.content.decode()


def test_stub_of_agent_with_definition_is_refused(editor_client, card_server):
    card_server.routes["/mcp"] = mcp_servers.answer_authorized_request
    url = card_server.url("/mcp")
    preview, _ = post_form(editor_client, url=url, allow_stub="true")
    import_url(url, authorization="Bearer sesame")
    _, response = post_form(editor_client, url=url, allow_stub="true")
    assert "already in the catalog" in response.content.decode()

    form = {"signed": preview.signed}
    response = editor_client.post(REGISTER_URL, form, follow=True)
    assert "already in the catalog" in response.content.decode()
    assert CatalogEntry.objects.get().display_name == "legacy"


@pytest.mark.parametrize(
    "form", [{"definition": DEFINITION}, {"signed": "x"}], ids=["preview", "confirm"]
)
def test_register_page_request_by_viewer_returns_403(viewer_client, form):
    assert viewer_client.post(REGISTER_URL, form).status_code == 403


def test_page_asks_before_agent_is_replaced_t5(editor_client):
    url = "https://gateway.example/a2a"
    artha, sage = (
        json.dumps(agent_card(name, task, url=url))
        for name, task in (("Artha", "Plan"), ("Sage", "Advise"))
    )
    preview, response = post_form(editor_client, definition=artha)
    assert "Replace “" not in response.content.decode()
    editor_client.post(REGISTER_URL, {"signed": preview.signed})
    preview, response = post_form(editor_client, definition=sage)

    assert preview.replaced_name == "Artha"
    assert "Replace “Artha”" in response.content.decode()
    editor_client.post(REGISTER_URL, {"signed": preview.signed})
    assert CatalogEntry.objects.get().display_name == "Sage"


def test_page_takes_endpoint_for_card_without_url_t10(editor_client):
    definition = json.dumps({"name": "k8s", "skills": [{"name": "Scale"}]})
    preview, _ = post_form(
        editor_client, definition=definition, endpoint="https://a.example/k8s"
    )
    editor_client.post(REGISTER_URL, {"signed": preview.signed})

    assert CatalogEntry.objects.get().agent_type.endpoint == "https://a.example/k8s"


def test_page_refuses_endpoint_for_definition_with_url_t10(editor_client):
    preview, response = post_form(
        editor_client, definition=DEFINITION, endpoint="https://a.example/k8s"
    )

    assert preview is None
    assert "the definition contains the URL" in response.content.decode()


def test_page_of_grpc_agent_has_no_link_to_it_t10(editor_client):
    interface = {"url": "grpc://host.example:9090", "protocolBinding": "GRPC"}
    definition = json.dumps(agent_card("Grpc", supportedInterfaces=[interface]))
    preview, _ = post_form(editor_client, definition=definition)
    response = editor_client.post(REGISTER_URL, {"signed": preview.signed})
    html = editor_client.get(response["Location"]).content.decode()

    assert "grpc://host.example:9090" in html
    assert 'href="grpc' not in html
    assert "not probed" in html

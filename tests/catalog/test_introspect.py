import asyncio
import ipaddress
import json

import pytest

from capabilities.parsers import examine
from catalog.fetch import AuthorizationNeeded, FetchFailed, FetchTimeout, UrlNotAllowed
from catalog.intake import import_url
from catalog.introspect import introspect
from catalog.models import CatalogEntry, Source, Status
from tests import mcp_servers, servers
from tests.factories import card_bytes
from tests.servers import reply


@pytest.fixture(autouse=True)
def _loopback_is_allowed(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = [ipaddress.ip_network("127.0.0.1/32")]
    settings.AGENTLENS_FETCH_TIMEOUT = 5


@pytest.fixture
def server():
    with servers.serving() as server:
        yield server


@pytest.fixture(scope="module")
def notebook():
    with mcp_servers.serving(mcp_servers.notebook()) as address:
        yield f"{address}/mcp"


def told(url, **options):
    return json.loads(asyncio.run(introspect(url, **options)))


def names(record, kind):
    return sorted(c.name for c in record.capabilities if c.kind == kind)


def test_a_running_server_tells_all_it_offers(notebook):
    raw = asyncio.run(introspect(notebook))
    record = examine(raw, "mcp").record

    assert (record.name, record.version) == ("Notebook", "2.1.0")
    assert record.endpoint == notebook
    assert names(record, "mcp.tool") == ["add_note"]
    assert names(record, "mcp.resource") == ["note", "notes"]
    assert names(record, "mcp.prompt") == ["summarise"]


def test_every_page_is_read_and_a_circle_is_left():
    with mcp_servers.serving(mcp_servers.paged()) as address:
        document = told(f"{address}/mcp")

    tools = [tool["name"] for tool in document["tools"]]
    assert tools == [f"tool_{n}" for n in range(5)]


def legacy(request):
    """A server of 2025: it knows no discovery, only the handshake."""
    message = json.loads(request.body or b"{}")
    results = {
        "initialize": {
            "protocolVersion": "2025-03-26",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "legacy", "version": "0.9"},
        },
        "tools/list": {"tools": [{"name": "dig", "inputSchema": {"type": "object"}}]},
    }
    if message.get("method") == "notifications/initialized":
        return [reply(202)]
    if message.get("method") not in results:
        return [reply(400)]
    answer = {
        "jsonrpc": "2.0",
        "id": message["id"],
        "result": results[message["method"]],
    }
    body = json.dumps(answer).encode()
    return [reply(body=body, content_type="application/json")]


def test_a_server_of_an_older_revision_is_understood(server):
    server.routes["/mcp"] = legacy
    document = told(server.url("/mcp"))

    assert document["protocolVersion"] == "2025-03-26"
    assert document["tools"][0]["name"] == "dig"


@pytest.mark.parametrize(
    ("route", "error"),
    [
        (reply(401), AuthorizationNeeded),
        (reply(403), AuthorizationNeeded),
        (reply(404), FetchFailed),
        (reply(500), FetchFailed),
        (reply(body=b"<html>", content_type="text/html"), FetchFailed),
        (servers.redirect("http://127.0.0.2:1/mcp"), FetchFailed),
        (servers.silence, FetchTimeout),
        (servers.packed(b"{}"), FetchFailed),
    ],
    ids=["401", "403", "404", "500", "html", "redirect", "silence", "packed"],
)
def test_who_does_not_tell_is_told_apart(server, settings, route, error):
    settings.AGENTLENS_FETCH_TIMEOUT = 1
    server.routes["/mcp"] = route

    with pytest.raises(error):
        told(server.url("/mcp"))


def test_an_endless_answer_is_cut_off(server):
    body = b"[" + b" " * 2_000_000
    server.routes["/mcp"] = reply(body=body, content_type="application/json")

    with pytest.raises(FetchFailed, match="larger than"):
        told(server.url("/mcp"))


def test_a_private_server_is_not_asked(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = []

    with pytest.raises(UrlNotAllowed):
        told("http://127.0.0.1:1/mcp")


def test_authorization_is_sent_and_never_logged(server, caplog):
    caplog.set_level("DEBUG")
    server.routes["/mcp"] = legacy
    told(server.url("/mcp"), authorization="Bearer hush-hush")

    sent = {request.headers["Authorization"] for request in server.requests}
    assert sent == {"Bearer hush-hush"}
    assert "hush-hush" not in caplog.text


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("protocol", ["", "mcp"])
def test_importing_a_running_server_makes_it_searchable_at_once(notebook, protocol):
    entry = import_url(notebook, protocol).entry

    assert (entry.source, entry.status) == (Source.IMPORT, Status.ACTIVE)
    assert entry.source_url == notebook
    assert entry.rows.filter(kind="mcp.tool").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_server_that_asks_for_authorisation_is_catalogued_from_its_card(server):
    card = {
        "name": "vault",
        "version": "1.0",
        "remotes": [{"type": "streamable-http", "url": server.url("/mcp")}],
    }
    server.routes["/mcp"] = reply(401)
    place = "/mcp/.well-known/mcp/server-card.json"
    server.routes[place] = reply(body=json.dumps(card).encode())
    outcome = import_url(server.url("/mcp"), "mcp")

    assert outcome.entry.display_name == "vault"
    assert "asks for authorisation" in outcome.warnings[0].message
    assert CatalogEntry.objects.get().status == Status.ACTIVE


@pytest.mark.django_db(transaction=True)
def test_authorization_is_never_stored(server):
    server.routes["/mcp"] = legacy
    entry = import_url(server.url("/mcp"), "mcp", "Bearer hush-hush").entry

    assert b"hush-hush" not in entry.agent_type.definition


@pytest.mark.django_db(transaction=True)
def test_a_card_is_still_found_before_anybody_is_asked(server):
    server.routes["/.well-known/agent-card.json"] = reply(body=card_bytes())
    import_url(server.url())

    assert {request.method for request in server.requests} == {"GET"}

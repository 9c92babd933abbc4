"""Extended cards of A2A agents."""

import json

import pytest

from catalog.models import CatalogEntry
from catalog.outbound import FetchFailed
from catalog.registration.service import import_url, refresh_entry
from tests import a2a_servers, servers
from tests.factories import card_bytes, skill
from tests.servers import redirect, reply

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("allow_loopback"),
]

TOKEN = a2a_servers.TOKEN
CARD_PATH = "/.well-known/agent-card.json"
DECLARED = {"extendedAgentCard": True}
# What the JSON-RPC method returns of an invalid request.
JSON_RPC_ERROR = b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32007}}'


def get_skill_names(entry):
    rows = entry.agent_type.capabilities.filter(kind="a2a.skill")
    return sorted(rows.values_list("name", flat=True))


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_extended_card_is_imported_with_credentials_t16(binding, version):
    with a2a_servers.run_agent_with_extended_card(binding, version) as url:
        entry = import_url(url, authorization=TOKEN).entry

    assert get_skill_names(entry) == ["Echo", "Shout", "Whisper"]
    assert (entry.authorized, entry.definition_problem) == (True, "")
    assert entry.source_url == url + CARD_PATH
    assert "sesame" not in entry.agent_type.definition.decode()


def test_public_card_is_imported_without_credentials():
    with a2a_servers.run_agent_with_extended_card() as url:
        entry = import_url(url).entry

    assert get_skill_names(entry) == ["Echo", "Shout"]
    assert (entry.authorized, entry.definition_problem) == (False, "")


def test_refresh_with_credentials_stores_extended_card():
    with a2a_servers.run_agent_with_extended_card() as url:
        entry = import_url(url).entry
        result = refresh_entry(entry, TOKEN)
        again = refresh_entry(CatalogEntry.objects.get(), TOKEN)

    assert [item["name"] for item in result.changes.added] == ["Whisper"]
    assert get_skill_names(result.entry) == ["Echo", "Shout", "Whisper"]
    assert again.outcome == "unchanged"


def test_rejected_credentials_keep_the_public_card_with_a_warning():
    with a2a_servers.run_agent_with_extended_card() as url:
        result = import_url(url, authorization="Bearer wrong")

    assert get_skill_names(result.entry) == ["Echo", "Shout"]
    problem = result.entry.definition_problem
    assert problem == (
        "its extended card could not be read (HTTP 401, requires authorization): only"
        " its public card is known"
    )
    assert result.warnings[0].message == problem


def test_refresh_with_rejected_credentials_keeps_the_extended_card():
    with a2a_servers.run_agent_with_extended_card() as url:
        entry = import_url(url, authorization=TOKEN).entry
        with pytest.raises(FetchFailed, match="extended card could not be read"):
            refresh_entry(entry, "Bearer wrong")

    assert get_skill_names(CatalogEntry.objects.get()) == ["Echo", "Shout", "Whisper"]


def test_import_without_credentials_warns_that_skills_may_be_missing():
    with a2a_servers.run_agent_with_extended_card() as url:
        import_url(url, authorization=TOKEN)
        result = import_url(url)

    assert any("only authorized clients" in item.message for item in result.warnings)


def publish_card(server, **members):
    """Serve a card that declares an extended card at `/a2a`."""
    members = {"url": server.url("/a2a"), "capabilities": DECLARED} | members
    server.routes[CARD_PATH] = reply(body=card_bytes(**members))


@pytest.mark.parametrize(
    "route",
    [
        reply(404),
        redirect("http://169.254.169.254/hidden", 307),
        reply(body=b"<html>"),
        reply(body=b"{}"),
        reply(body=JSON_RPC_ERROR),
        reply(body=b'{"result": {"name": "x"}}'),
        reply(
            body=b'{"result": {"name": "", "skills": [], "url": "http://a.example"}}'
        ),
        servers.gzip_reply(b"{}"),
        servers.send_endless_body,
        reply(403, b"\x1b[31mNo"),
    ],
)
def test_failed_extended_card_keeps_the_public_card(server, route):
    publish_card(server)
    server.routes["/a2a"] = route
    entry = import_url(server.url(), authorization=TOKEN).entry

    assert get_skill_names(entry) == ["Translate text"]
    assert entry.definition_problem.startswith("its extended card could not be read (")
    assert "only its public card is known" in entry.definition_problem


def test_extended_card_of_another_agent_is_rejected(server):
    publish_card(server)
    other_card = json.loads(card_bytes(url="https://other.example/a2a"))
    server.routes["/a2a"] = reply(body=json.dumps({"result": other_card}).encode())
    entry = import_url(server.url(), authorization=TOKEN).entry

    assert entry.agent_type.endpoint == server.url("/a2a")
    assert "it names another endpoint" in entry.definition_problem


def test_authorization_is_not_sent_to_other_origin_for_extended_card(server):
    with servers.run_server() as other:
        publish_card(server, url=other.url("/a2a"))
        entry = import_url(server.url(), authorization=TOKEN).entry

    assert {request.headers["Authorization"] for request in other.requests} <= {None}
    assert "another host than the given credentials" in entry.definition_problem


def test_extended_card_of_revision_02_is_fetched(server):
    card = {
        "name": "Polyglot",
        "url": server.url("/a2a"),
        "skills": [skill()],
        "supportsAuthenticatedExtendedCard": True,
    }
    extended = card | {"skills": [skill(), skill("Summarize")]}
    server.routes[CARD_PATH] = reply(body=json.dumps(card).encode())
    body = json.dumps(extended).encode()
    server.routes["/agent/authenticatedExtendedCard"] = reply(body=body)
    entry = import_url(server.url(), authorization=TOKEN).entry

    assert get_skill_names(entry) == ["Summarize", "Translate text"]
    assert entry.agent_type.definition == body

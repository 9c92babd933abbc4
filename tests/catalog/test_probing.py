import asyncio
import ipaddress
import json

import pytest

from catalog.probing import Target, probe
from tests.servers import redirect, reply, serving, silence

CARD, OLDER_CARD = "/.well-known/agent-card.json", "/.well-known/agent.json"


@pytest.fixture(autouse=True)
def _loopback_is_allowed(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = [ipaddress.ip_network("127.0.0.1/32")]
    settings.AGENTLENS_PROBE_TIMEOUT = 1


@pytest.fixture
def server():
    with serving() as server:
        yield server


def ask(protocol, endpoint, definition_url=""):
    return asyncio.run(probe(Target(protocol, endpoint, definition_url)))


@pytest.mark.parametrize("status", [200, 204, 401, 403, 405, 406, 429])
def test_any_answer_that_only_the_living_give_will_do(server, status):
    server.routes[CARD] = reply(status=status)
    outcome = ask("a2a", server.url("/a2a"))

    assert outcome.ok
    assert outcome.latency_ms >= 0


@pytest.mark.parametrize("status", [400, 404, 410, 500, 502, 503])
def test_other_answers_tell_of_trouble(server, status):
    server.routes[CARD] = server.routes[OLDER_CARD] = reply(status=status)
    outcome = ask("a2a", server.url("/a2a"))

    assert outcome.error == f"HTTP {status}"


def test_a_card_is_asked_for_where_it_came_from(server):
    server.routes["/cards/one.json"] = reply()
    outcome = ask("a2a", "https://nowhere.example", server.url("/cards/one.json"))

    assert outcome.ok


def test_a_card_at_the_older_place_is_found(server):
    server.routes[OLDER_CARD] = reply()

    assert ask("a2a", server.url("/a2a")).ok
    assert server.paths == [CARD, OLDER_CARD]


def test_an_mcp_server_of_today_is_discovered_with_one_call(server):
    server.routes["/mcp"] = reply(body=b"{}")

    assert ask("mcp", server.url("/mcp")).ok
    (request,) = server.requests
    assert json.loads(request.body)["method"] == "server/discover"


def test_an_older_mcp_server_is_initialized(server):
    answers = iter([reply(400), reply(body=b"{}")])
    server.routes["/mcp"] = lambda request: [next(answers)]

    assert ask("mcp", server.url("/mcp")).ok
    methods = [json.loads(request.body)["method"] for request in server.requests]
    assert methods == ["server/discover", "initialize"]


def test_a_redirect_to_a_private_address_is_not_followed(server):
    server.routes[CARD] = redirect("http://127.0.0.2:1/")
    server.routes[OLDER_CARD] = redirect("http://127.0.0.2:1/")

    assert "not at a public address" in ask("a2a", server.url("/a2a")).error


def test_silence_is_a_timeout(server, settings):
    settings.AGENTLENS_PROBE_TIMEOUT = 0.2
    server.routes[CARD] = silence

    assert ask("a2a", server.url("/a2a")).error == "Timed out after 0.2 s"


def test_nobody_there_is_told_in_words():
    outcome = ask("a2a", "http://127.0.0.1:1/a2a")

    assert outcome.error == "Connection refused or unreachable"

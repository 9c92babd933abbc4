import asyncio
import ipaddress
import json

import pytest

from catalog.health import probe as probing
from catalog.health.probe import CLOSE_TIMEOUT, ProbeTarget, run_probe
from tests.servers import certificate, head, redirect, reply, serving, silence

CARD, OLDER_CARD = "/.well-known/agent-card.json", "/.well-known/agent.json"


@pytest.fixture(autouse=True)
def _loopback_is_allowed(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = [ipaddress.ip_network("127.0.0.1/32")]


@pytest.fixture
def server():
    with serving() as server:
        yield server


def ask(protocol, endpoint, definition_url=""):
    return asyncio.run(run_probe(ProbeTarget(protocol, endpoint, definition_url)))


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


def test_what_is_wrong_is_told_in_words(tmp_path):
    with serving() as gone:
        refused = gone.url("/a2a")
    nowhere = "https://nowhere.invalid/a2a"

    assert ask("a2a", refused).error == "Connection refused or unreachable"
    assert ask("a2a", nowhere).error == "DNS lookup failed"
    with serving(tls=certificate("agent.example", tmp_path / "tls.pem")) as own:
        untrusted = ask("a2a", own.url("/a2a"))
    assert untrusted.error == "TLS handshake or certificate verification failed"


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


def test_a_session_that_was_opened_to_ask_is_closed_again(server):
    def opening(request):
        if request.method == "DELETE":
            return [reply(405)]
        known = json.loads(request.body)["method"] == "initialize"
        return [reply(body=b"{}", mcp_session_id="s1") if known else reply(400)]

    server.routes["/mcp"] = opening

    assert ask("mcp", server.url("/mcp")).ok
    last = server.requests[-1]
    assert (last.method, last.headers["Mcp-Session-Id"]) == ("DELETE", "s1")


def test_who_does_not_let_us_leave_lives_all_the_same(server):
    def clinging(request):
        if request.method == "DELETE":
            return silence(request)
        return [reply(body=b"{}", mcp_session_id="s1")]

    answers = iter([[reply(400)]])
    server.routes["/mcp"] = lambda request: next(answers, None) or clinging(request)
    outcome = ask("mcp", server.url("/mcp"))

    assert outcome.ok
    assert outcome.latency_ms < CLOSE_TIMEOUT * 1000
    assert server.requests[-1].method == "DELETE"


@pytest.mark.parametrize(
    ("greeted", "error"),
    [(reply(503), "HTTP 503"), (silence, "Timed out after 1 s")],
    ids=["fails", "hangs"],
)
def test_that_it_fails_is_told_and_not_that_it_is_of_an_older_revision(
    server, settings, greeted, error
):
    settings.AGENTLENS_PROBE_TIMEOUT = 1

    def older(request):
        if json.loads(request.body)["method"] == "server/discover":
            return [reply(400)]
        return greeted(request) if callable(greeted) else [greeted]

    server.routes["/mcp"] = older

    assert ask("mcp", server.url("/mcp")).error == error


def test_leaving_does_not_count_as_answering(server, settings, monkeypatch):
    """However little time is left when the answer comes."""
    settings.AGENTLENS_PROBE_TIMEOUT = 1
    monkeypatch.setattr(probing, "CLOSE_TIMEOUT", 1.5)

    def clinging(request):
        if request.method == "DELETE":
            return silence(request)
        return [reply(body=b"{}", mcp_session_id="s1")]

    answers = iter([[reply(400)]])
    server.routes["/mcp"] = lambda request: next(answers, None) or clinging(request)

    assert ask("mcp", server.url("/mcp")).ok


def test_an_mcp_server_of_2024_is_listened_to(server):
    def listened_to(request):
        stream = head(content_type="text/event-stream")
        return [stream if request.method == "GET" else reply(404)]

    server.routes["/mcp"] = listened_to

    assert ask("mcp", server.url("/mcp")).ok


@pytest.mark.parametrize(
    ("declared", "agent", "error"),
    [
        (reply(), reply(500), ""),
        (reply(404), reply(), ""),
        (reply(404), reply(405), ""),
        (reply(404), reply(404), "HTTP 404"),
        (reply(500), reply(405), "HTTP 500"),
        (b"no HTTP", reply(), "The response is not valid HTTP"),
    ],
)
def test_an_ag_ui_agent_is_asked_itself_only_if_it_declares_nothing(
    server, declared, agent, error
):
    server.routes |= {"/agent/capabilities": declared, "/agent": agent}

    assert ask("agui", server.url("/agent")).error == error


def test_of_two_places_the_failing_one_tells_more_than_the_empty_one(server):
    server.routes[CARD] = reply(503)

    assert ask("a2a", server.url("/a2a")).error == "HTTP 503"


def test_the_host_is_that_of_whom_we_ask():
    target = ProbeTarget(
        "a2a", "https://agents.example/a", "https://cards.example/a.json"
    )

    assert target.host == "cards.example"
    assert ProbeTarget("mcp", "https://agents.example/a").host == "agents.example"


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

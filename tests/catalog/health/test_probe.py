import asyncio
import json

import pytest

from catalog.health import probe as probe_module
from catalog.health.probe import CLOSE_TIMEOUT, ProbeTarget, run_probe
from tests.servers import (
    create_certificate,
    never_respond,
    redirect,
    reply,
    response_head,
    run_server,
)

CARD, OLDER_CARD = "/.well-known/agent-card.json", "/.well-known/agent.json"


pytestmark = pytest.mark.usefixtures("allow_one_address")


def probe(protocol, endpoint, definition_url=""):
    return asyncio.run(run_probe(ProbeTarget(protocol, endpoint, definition_url)))


@pytest.mark.parametrize("status", [200, 204, 401, 403, 405, 406, 429])
def test_probe_succeeds_if_status_shows_a_running_agent(server, status):
    server.routes[CARD] = reply(status=status)
    outcome = probe("a2a", server.url("/a2a"))

    assert outcome.ok
    assert outcome.latency_ms >= 0


@pytest.mark.parametrize("status", [400, 404, 410, 500, 502, 503])
def test_probe_fails_with_any_other_status(server, status):
    server.routes[CARD] = server.routes[OLDER_CARD] = reply(status=status)
    outcome = probe("a2a", server.url("/a2a"))

    assert outcome.error == f"HTTP {status}"


def test_connection_dns_and_tls_errors_have_readable_messages(tmp_path):
    with run_server() as server:
        closed_url = server.url("/a2a")
    unknown_host_url = "https://nowhere.invalid/a2a"

    assert probe("a2a", closed_url).error == (
        "The connection was refused or the host is unreachable"
    )
    assert probe("a2a", unknown_host_url).error == "DNS lookup failed"
    with run_server(
        tls=create_certificate("agent.example", tmp_path / "tls.pem")
    ) as server:
        untrusted = probe("a2a", server.url("/a2a"))
    assert untrusted.error == "TLS handshake or certificate verification failed"


def test_card_is_requested_from_its_definition_url(server):
    server.routes["/cards/one.json"] = reply()
    outcome = probe("a2a", "https://nowhere.example", server.url("/cards/one.json"))

    assert outcome.ok


def test_card_at_older_well_known_path_is_found(server):
    server.routes[OLDER_CARD] = reply()

    assert probe("a2a", server.url("/a2a")).ok
    assert server.paths == [CARD, OLDER_CARD]


def test_current_mcp_server_is_probed_with_server_discover(server):
    server.routes["/mcp"] = reply(body=b"{}")

    assert probe("mcp", server.url("/mcp")).ok
    (request,) = server.requests
    assert json.loads(request.body)["method"] == "server/discover"


def test_older_mcp_server_is_probed_with_initialize(server):
    responses = iter([reply(400), reply(body=b"{}")])
    server.routes["/mcp"] = lambda request: [next(responses)]

    assert probe("mcp", server.url("/mcp")).ok
    methods = [json.loads(request.body)["method"] for request in server.requests]
    assert methods == ["server/discover", "initialize"]


def test_mcp_session_opened_by_probe_is_closed(server):
    def respond(request):
        if request.method == "DELETE":
            return [reply(405)]
        is_initialize = json.loads(request.body)["method"] == "initialize"
        return [reply(body=b"{}", mcp_session_id="s1") if is_initialize else reply(400)]

    server.routes["/mcp"] = respond

    assert probe("mcp", server.url("/mcp")).ok
    last = server.requests[-1]
    assert (last.method, last.headers["Mcp-Session-Id"]) == ("DELETE", "s1")


def respond_except_to_delete():
    """Return a route of an older MCP server that never confirms a closed session."""
    discover_responses = iter([[reply(400)]])

    def respond(request):
        if request.method == "DELETE":
            return never_respond(request)
        initialized = [reply(body=b"{}", mcp_session_id="s1")]
        return next(discover_responses, initialized)

    return respond


def test_mcp_session_that_cannot_be_closed_is_a_success(server):
    server.routes["/mcp"] = respond_except_to_delete()
    outcome = probe("mcp", server.url("/mcp"))

    assert outcome.ok
    assert outcome.latency_ms < CLOSE_TIMEOUT * 1000
    assert server.requests[-1].method == "DELETE"


@pytest.mark.parametrize(
    ("initialize_response", "error"),
    [(reply(503), "HTTP 503"), (never_respond, "Timed out after 1 s")],
    ids=["error", "timeout"],
)
def test_failed_initialize_is_reported_instead_of_failed_discover(
    server, settings, initialize_response, error
):
    settings.AGENTLENS_PROBE_TIMEOUT = 1

    def respond(request):
        if json.loads(request.body)["method"] == "server/discover":
            return [reply(400)]
        if callable(initialize_response):
            return initialize_response(request)
        return [initialize_response]

    server.routes["/mcp"] = respond

    assert probe("mcp", server.url("/mcp")).error == error


def test_closing_mcp_session_does_not_count_toward_timeout(
    server, settings, monkeypatch
):
    settings.AGENTLENS_PROBE_TIMEOUT = 1
    monkeypatch.setattr(probe_module, "CLOSE_TIMEOUT", 1.5)

    server.routes["/mcp"] = respond_except_to_delete()

    assert probe("mcp", server.url("/mcp")).ok


def test_mcp_server_with_http_sse_transport_is_probed_with_get(server):
    def respond(request):
        stream = response_head(content_type="text/event-stream")
        return [stream if request.method == "GET" else reply(404)]

    server.routes["/mcp"] = respond

    assert probe("mcp", server.url("/mcp")).ok


@pytest.mark.parametrize(
    ("declaration", "endpoint", "error"),
    [
        (reply(), reply(500), ""),
        (reply(404), reply(), ""),
        (reply(404), reply(405), ""),
        (reply(404), reply(404), "HTTP 404"),
        (reply(500), reply(405), "HTTP 500"),
        (b"no HTTP", reply(), "The response is not valid HTTP"),
    ],
)
def test_ag_ui_endpoint_is_probed_only_without_declaration(
    server, declaration, endpoint, error
):
    server.routes |= {"/agent/capabilities": declaration, "/agent": endpoint}

    assert probe("agui", server.url("/agent")).error == error


def test_server_error_is_reported_instead_of_404(server):
    server.routes[CARD] = reply(503)

    assert probe("a2a", server.url("/a2a")).error == "HTTP 503"


def test_target_host_is_host_of_first_health_request():
    target = ProbeTarget(
        "a2a", "https://agents.example/a", "https://cards.example/a.json"
    )

    assert target.host == "cards.example"
    assert ProbeTarget("mcp", "https://agents.example/a").host == "agents.example"


def test_redirect_to_private_address_is_not_followed(server):
    server.routes[CARD] = redirect("http://127.0.0.2:1/")
    server.routes[OLDER_CARD] = redirect("http://127.0.0.2:1/")

    assert "is not a public host" in probe("a2a", server.url("/a2a")).error


def test_missing_response_is_reported_as_timeout(server, settings):
    settings.AGENTLENS_PROBE_TIMEOUT = 0.2
    server.routes[CARD] = never_respond

    assert probe("a2a", server.url("/a2a")).error == "Timed out after 0.2 s"


def test_closed_port_is_reported_as_connection_rejected():
    outcome = probe("a2a", "http://127.0.0.1:1/a2a")

    assert outcome.error == "The connection was refused or the host is unreachable"

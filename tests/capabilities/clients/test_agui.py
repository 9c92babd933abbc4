import json

import httpx2
import pytest
from ag_ui.core import AgentCapabilities

from capabilities.clients.agui import HttpAgent
from tests.capabilities.protocols.agui.declarations import load_sample
from tests.servers import never_respond, reply, run_server


def build_json_reply(document):
    return reply(body=json.dumps(document).encode(), content_type="application/json")


def fetch_capabilities(server, route, path="/api", **options):
    server.routes["/api/capabilities"] = route
    with HttpAgent(server.url(path), **options) as agent:
        return agent.get_capabilities()


def test_client_reads_declaration_in_older_spelling(server):
    capabilities = fetch_capabilities(
        server, build_json_reply(load_sample("concierge"))
    )

    assert isinstance(capabilities, AgentCapabilities)
    assert capabilities.tools.supported
    assert len(capabilities.tools.items) == 1
    assert capabilities.reasoning.supported
    assert capabilities.human_in_the_loop.approvals
    assert len(capabilities.multi_agent.subagents) == 2
    assert capabilities.multimodal.input.image
    assert capabilities.custom["rateLimit"] == {"maxRequestsPerMinute": 60}


def test_transport_type_does_not_hide_other_flags(server):
    """Some frameworks add their own members to the categories."""
    with_flags = {"transport": {"streaming": True, "type": "sse"}}
    without_flags = {"transport": {"type": "sse"}, "reasoning": {"supported": True}}

    assert (
        fetch_capabilities(server, build_json_reply(with_flags)).transport.streaming
        is True
    )
    assert (
        fetch_capabilities(server, build_json_reply(without_flags)).reasoning.supported
        is True
    )


def test_every_call_fetches_current_capabilities(server):
    tools = [{"name": f"tool_{n}", "description": "Works"} for n in range(5)]
    server.routes["/api/capabilities"] = lambda request: [
        build_json_reply({"tools": {"items": tools}})
    ]
    with HttpAgent(server.url("/api")) as agent:
        before = agent.get_capabilities()
        tools += [{"name": name, "description": "New"} for name in ("one", "two")]
        after = agent.get_capabilities()

    assert (len(before.tools.items), len(after.tools.items)) == (5, 7)


def test_invalid_member_does_not_hide_other_members(server):
    capabilities = fetch_capabilities(
        server, build_json_reply(load_sample("courier_with_invalid_members"))
    )

    assert capabilities.transport.streaming is None
    assert capabilities.transport.resumable is True
    assert [tool.name for tool in capabilities.tools.items] == ["ship", "track"]


def test_empty_declaration_returns_empty_capabilities(server):
    assert fetch_capabilities(server, build_json_reply({})) == AgentCapabilities()


def test_transport_string_does_not_hide_other_members(server):
    document = {"transport": "http", "reasoning": {"supported": True}}

    assert (
        fetch_capabilities(server, build_json_reply(document)).reasoning.supported
        is True
    )


def test_response_over_document_size_limit_is_read(server):
    subagents = [{"name": f"n{n}", "description": "d" * 500} for n in range(2500)]
    capabilities = fetch_capabilities(
        server, build_json_reply({"multiAgent": {"subagents": subagents}})
    )

    assert len(capabilities.multi_agent.subagents) == 2500


@pytest.mark.parametrize("status", [404, 405, 410, 501])
def test_agent_without_endpoint_returns_none(server, status):
    assert fetch_capabilities(server, reply(status)) is None


@pytest.mark.parametrize(
    "route",
    [
        build_json_reply(load_sample("event_matrix")),
        build_json_reply({"name": "Desk", "skills": [], "url": "https://a.example"}),
        build_json_reply({"serverInfo": {"name": "s"}, "transport": {"type": "sse"}}),
        build_json_reply({"hello": "world"}),
        build_json_reply([1]),
        build_json_reply(None),
        reply(body=b"<html>"),
        reply(204),
        reply(body=b"[" * 100_000),
    ],
)
def test_other_response_body_returns_none(server, route):
    assert fetch_capabilities(server, route) is None


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_http_error_is_raised(server, status):
    with pytest.raises(httpx2.HTTPStatusError):
        fetch_capabilities(server, reply(status))


def test_server_without_response_raises_timeout(server):
    with pytest.raises(httpx2.TimeoutException):
        fetch_capabilities(server, never_respond, timeout=0.1)


def test_stopped_server_raises_connect_error():
    with run_server() as stopped_server:
        url = stopped_server.url("/api")
    with HttpAgent(url) as agent, pytest.raises(httpx2.ConnectError):
        agent.get_capabilities()


@pytest.mark.parametrize(
    ("path", "fetched"),
    [
        ("", "/capabilities"),
        ("/", "/capabilities"),
        ("/api", "/api/capabilities"),
        ("/api///", "/api/capabilities"),
        ("/api/?tenant=a&b=c", "/api/capabilities?tenant=a&b=c"),
    ],
)
def test_capabilities_url_is_below_agent_url_and_keeps_query(server, path, fetched):
    server.routes[fetched] = build_json_reply({"state": {"memory": True}})
    with HttpAgent(server.url(path)) as agent:
        assert agent.get_capabilities().state.memory is True

    assert server.paths == [fetched]


def test_capabilities_url_can_be_given(server):
    server.routes["/elsewhere"] = build_json_reply({"state": {"memory": True}})
    url = server.url("/elsewhere")

    assert (
        fetch_capabilities(server, reply(500), capabilities_url=url).state.memory
        is True
    )
    assert server.paths == ["/elsewhere"]


def test_request_has_given_headers_and_accepts_json(server):
    fetch_capabilities(
        server, build_json_reply({}), headers={"Authorization": "Bearer t"}
    )

    headers = server.requests[0].headers
    assert headers["Authorization"] == "Bearer t"
    assert headers["Accept"] == "application/json"


def test_agent_context_exit_closes_connection(server):
    with HttpAgent(server.url("/api")) as agent:
        pass

    assert agent.http.is_closed

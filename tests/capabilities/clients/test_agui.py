import json

import httpx2
import pytest
from ag_ui.core import AgentCapabilities

from capabilities.clients.agui import HttpAgent
from tests.capabilities.protocols.agui.reading import sample
from tests.servers import reply, serving, silence


@pytest.fixture
def server():
    with serving() as running:
        yield running


def declares(document):
    return reply(body=json.dumps(document).encode(), content_type="application/json")


def asked(server, route, path="/api", **options):
    server.routes["/api/capabilities"] = route
    with HttpAgent(server.url(path), **options) as agent:
        return agent.get_capabilities()


def test_the_seeds_client_reads_what_it_reads_there(server):
    capabilities = asked(server, declares(sample("seed_concierge")))

    assert isinstance(capabilities, AgentCapabilities)
    assert capabilities.tools.supported
    assert len(capabilities.tools.items) == 1
    assert capabilities.reasoning.supported
    assert capabilities.human_in_the_loop.approvals
    assert len(capabilities.multi_agent.subagents) == 2
    assert capabilities.multimodal.input.image
    assert capabilities.custom["rateLimit"] == {"maxRequestsPerMinute": 60}


def test_a_type_beside_the_flags_of_a_transport_does_not_hide_them(server):
    """Some frameworks have members of their own in every category."""
    stated = {"transport": {"streaming": True, "type": "sse"}}
    beside = {"transport": {"type": "sse"}, "reasoning": {"supported": True}}

    assert asked(server, declares(stated)).transport.streaming is True
    assert asked(server, declares(beside)).reasoning.supported is True


def test_every_call_is_a_live_snapshot(server):
    tools = [{"name": f"tool_{n}", "description": "Works"} for n in range(5)]
    server.routes["/api/capabilities"] = lambda request: [
        declares({"tools": {"items": tools}})
    ]
    with HttpAgent(server.url("/api")) as agent:
        before = agent.get_capabilities()
        tools += [{"name": name, "description": "New"} for name in ("one", "two")]
        after = agent.get_capabilities()

    assert (len(before.tools.items), len(after.tools.items)) == (5, 7)


def test_one_faulty_member_does_not_hide_the_others(server):
    capabilities = asked(server, declares(sample("wild_courier")))

    assert capabilities.transport.streaming is None
    assert capabilities.transport.resumable is True
    assert [tool.name for tool in capabilities.tools.items] == ["ship", "track"]


def test_nothing_declared_is_an_answer_too(server):
    assert asked(server, declares({})) == AgentCapabilities()


def test_a_word_for_its_transport_does_not_hide_the_others(server):
    said = {"transport": "http", "reasoning": {"supported": True}}

    assert asked(server, declares(said)).reasoning.supported is True


def test_an_answer_larger_than_any_definition_is_read_all_the_same(server):
    crew = [{"name": f"n{n}", "description": "d" * 500} for n in range(2500)]
    capabilities = asked(server, declares({"multiAgent": {"subagents": crew}}))

    assert len(capabilities.multi_agent.subagents) == 2500


@pytest.mark.parametrize("status", [404, 405, 410, 501])
def test_an_agent_without_the_endpoint_does_not_say(server, status):
    assert asked(server, reply(status)) is None


@pytest.mark.parametrize(
    "route",
    [
        declares(sample("event_matrix")),
        declares({"name": "Desk", "skills": [], "url": "https://a.example"}),
        declares({"serverInfo": {"name": "s"}, "transport": {"type": "sse"}}),
        declares({"hello": "world"}),
        declares([1]),
        declares(None),
        reply(body=b"<html>"),
        reply(204),
        reply(body=b"[" * 100_000),
    ],
)
def test_what_is_no_declaration_is_none(server, route):
    assert asked(server, route) is None


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_refusals_and_failures_are_not_taken_for_silence(server, status):
    with pytest.raises(httpx2.HTTPStatusError):
        asked(server, reply(status))


def test_a_silent_server_times_out(server):
    with pytest.raises(httpx2.TimeoutException):
        asked(server, silence, timeout=0.1)


def test_a_server_that_is_gone_is_told():
    with serving() as gone:
        url = gone.url("/api")
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
def test_the_endpoint_is_below_the_agent_and_the_query_stays(server, path, fetched):
    server.routes[fetched] = declares({"state": {"memory": True}})
    with HttpAgent(server.url(path)) as agent:
        assert agent.get_capabilities().state.memory is True

    assert server.paths == [fetched]


def test_the_endpoint_may_be_elsewhere(server):
    server.routes["/elsewhere"] = declares({"state": {"memory": True}})
    url = server.url("/elsewhere")

    assert asked(server, reply(500), capabilities_url=url).state.memory is True
    assert server.paths == ["/elsewhere"]


def test_headers_are_sent_and_json_asked_for(server):
    asked(server, declares({}), headers={"Authorization": "Bearer t"})

    headers = server.requests[0].headers
    assert headers["Authorization"] == "Bearer t"
    assert headers["Accept"] == "application/json"


def test_leaving_the_block_closes_the_connection(server):
    with HttpAgent(server.url("/api")) as agent:
        pass

    assert agent.http.is_closed

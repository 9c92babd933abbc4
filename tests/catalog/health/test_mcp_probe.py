"""Probes of MCP servers: scripted ones of every kind, and real ones of the SDK."""

import asyncio
import json
from itertools import chain, repeat

import pytest

from catalog.health.probe import ProbeTarget, run_probe
from tests import mcp_servers
from tests.servers import (
    never_respond,
    redirect,
    reply,
    response_head,
)

pytestmark = pytest.mark.usefixtures("allow_one_address")

RESULT = {"jsonrpc": "2.0", "id": 1, "result": {}}
ERROR = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "No"}}
HTML = b"<!DOCTYPE html><title>Welcome</title>"
STREAM_HEAD = response_head(content_type="text/event-stream")
ENDPOINT_EVENT = b"event: endpoint\r\ndata: /messages?session_id=1\r\n\r\n"


def probe(url, probe_method=""):
    target = ProbeTarget("mcp", url, probe_method=probe_method)
    return asyncio.run(run_probe(target))


def json_reply(message, status=200):
    body = json.dumps(message).encode()
    return reply(status, body, content_type="application/json")


def html_reply(status=200):
    return reply(status, HTML, content_type="text/html")


def get_method(request):
    return json.loads(request.body)["method"] if request.body else request.method


def answer_by_method(**responses):
    """Return a route; its keys are RPC methods with `_` for `/`, or HTTP methods."""

    def route(request):
        response = responses.get(get_method(request).replace("/", "_"), reply(404))
        return response(request) if callable(response) else [response]

    return route


def open_stream(*events):
    """Return a route that sends events and then keeps the stream open."""
    return lambda request: chain([STREAM_HEAD, *events], never_respond(request))


@pytest.mark.parametrize(
    "response",
    [
        json_reply(RESULT),
        json_reply([RESULT]),
        json_reply(ERROR, 400),
        json_reply(ERROR, 404),
        reply(400, b"Bad Request: No valid session ID provided"),
        reply(404, b"session not found\n", content_type="text/plain"),
        reply(401),
        reply(403, HTML, content_type="text/html"),
        reply(405),
        reply(406),
        reply(429),
    ],
)
def test_one_ping_with_unknown_session_shows_a_running_server_t2(server, response):
    server.routes["/mcp"] = response
    outcome = probe(server.url("/mcp"))

    assert (outcome.error, outcome.probe_method) == ("", "ping")
    (request,) = server.requests
    assert get_method(request) == "ping"
    assert request.headers["Mcp-Session-Id"] == "agentlens-health-check"


@pytest.mark.parametrize(
    "response",
    [html_reply(), html_reply(404), html_reply(405), reply(400), json_reply({}, 404)],
)
def test_probe_opens_and_closes_no_session_t1(server, response):
    server.routes["/mcp"] = response
    probe(server.url("/mcp"))

    assert all("Mcp-Session-Id" in request.headers for request in server.requests)
    methods = {get_method(request) for request in server.requests}
    assert not methods & {"initialize", "DELETE"}


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (html_reply(), "Answered 200 with HTML"),
        (html_reply(404), "HTTP 404"),
        (html_reply(500), "HTTP 500"),
        (reply(), "Answered 200 with an empty body"),
        (reply(202), "Answered 202 with an empty body"),
        (json_reply({}), "Answered 200 with JSON that is not a JSON-RPC message"),
        (
            json_reply({"status": "no such session"}),
            "Answered 200 with JSON that is not a JSON-RPC message",
        ),
        (reply(body=b"OK"), "Answered 200 with a body that is not a JSON-RPC message"),
        (
            reply(content_type="text/event-stream"),
            "Answered 200 with an event stream that ends without an event",
        ),
    ],
)
def test_answer_that_is_not_mcp_fails_t4(server, response, error):
    server.routes["/mcp"] = response

    assert probe(server.url("/mcp")).error == error


def test_static_site_that_rejects_post_fails_t4(server):
    server.routes["/mcp"] = answer_by_method(ping=html_reply(405), GET=html_reply())

    assert probe(server.url("/mcp")).error == "Answered 200 with HTML"


@pytest.mark.parametrize(
    "events",
    [
        [b'event: message\r\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\r\n\r\n'],
        [
            b": hello\n\nid: 1\ndata:\n\n",
            b'data: {"jsonrpc":"2.0",\ndata: "result":1}\n\n',
        ],
        [b"data: [", json.dumps(RESULT).encode(), b"]\r", b"\n\r", b"\n"],
        [ENDPOINT_EVENT],
    ],
    ids=["message", "comment-and-empty-event", "in-pieces", "endpoint"],
)
def test_first_event_of_a_stream_that_stays_open_is_enough(server, events):
    server.routes["/mcp"] = open_stream(*events)

    assert probe(server.url("/mcp")).ok


def test_stream_without_event_times_out(server, settings):
    settings.AGENTLENS_PROBE_TIMEOUT = 0.3
    server.routes["/mcp"] = open_stream(b": ping\n\n")

    assert probe(server.url("/mcp")).error == "Timed out after 0.3 s"


def test_endless_event_fails(server):
    server.routes["/mcp"] = lambda request: chain(
        [STREAM_HEAD, b"data: "], repeat(b" " * 65_536, 1024)
    )

    assert "is larger than 1048576 bytes" in probe(server.url("/mcp")).error


def test_server_with_http_sse_transport_is_probed_with_get(server):
    server.routes["/sse"] = answer_by_method(
        ping=html_reply(404), GET=open_stream(ENDPOINT_EVENT)
    )
    first = probe(server.url("/sse"))
    count = len(server.requests)
    second = probe(server.url("/sse"), first.probe_method)

    assert first.ok
    assert second.ok
    assert first.probe_method == "sse"
    assert [get_method(request) for request in server.requests[count:]] == ["GET"]


def test_server_that_refuses_ping_is_asked_with_server_discover(server):
    server.routes["/mcp"] = answer_by_method(
        ping=reply(400), server_discover=json_reply(RESULT)
    )
    first = probe(server.url("/mcp"))
    count = len(server.requests)
    probe(server.url("/mcp"), first.probe_method)

    assert first.probe_method == "discover"
    methods = [get_method(request) for request in server.requests]
    assert methods[count:] == ["server/discover"]
    assert methods[:count] == ["ping", "server/discover"]


@pytest.mark.parametrize("remembered", ["discover", "sse"])
def test_remembered_request_that_is_refused_is_followed_by_ping(server, remembered):
    server.routes["/mcp"] = answer_by_method(ping=json_reply(RESULT))
    outcome = probe(server.url("/mcp"), remembered)

    assert (outcome.error, outcome.probe_method) == ("", "ping")


def test_no_other_request_follows_a_server_error(server):
    server.routes["/mcp"] = reply(503)
    outcome = probe(server.url("/mcp"), "discover")

    assert (outcome.error, outcome.probe_method) == ("HTTP 503", "")
    assert len(server.requests) == 1


def test_ping_is_repeated_at_the_location_of_a_redirect(server):
    server.routes |= {"/mcp": redirect("/mcp/", 307), "/mcp/": json_reply(RESULT)}

    assert probe(server.url("/mcp")).ok
    assert [get_method(request) for request in server.requests] == ["ping", "ping"]


@pytest.mark.parametrize(
    ("build_app", "path"),
    [
        (mcp_servers.notebook_app, "/mcp"),
        (mcp_servers.stateless_notebook_app, "/mcp"),
        (mcp_servers.sse_notebook_app, "/mcp"),
    ],
)
def test_servers_of_the_current_sdk_answer_the_ping(build_app, path):
    with mcp_servers.run_app(build_app()) as base_url:
        outcome = probe(base_url + path)

    assert (outcome.error, outcome.probe_method) == ("", "ping")

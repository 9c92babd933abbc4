"""Introspection of MCP servers, without the database."""

import asyncio
import contextlib
import json

import pytest

from capabilities.parsers import try_parse
from capabilities.records import CAPABILITY_LIMIT
from catalog.integrations.mcp import introspection as introspection_module
from catalog.integrations.mcp.introspection import introspect
from catalog.outbound.errors import (
    AuthorizationRequired,
    FetchFailed,
    FetchTimeout,
    RequestRefused,
    UrlNotAllowed,
)
from tests import mcp_servers, servers
from tests.mcp_servers import (
    METHOD_NOT_FOUND,
    RESOURCES,
    TOOLS,
    answer_legacy_request,
    answer_with_lists,
)
from tests.servers import reply


def introspect_document(url, **options):
    return asyncio.run(introspect(url, **options)).document


def get_names(record, kind):
    return sorted(item.name for item in record.capabilities if item.kind == kind)


def test_introspection_reads_tools_resources_and_prompts(notebook_url):
    raw = json.dumps(introspect_document(notebook_url)).encode()
    record = try_parse(raw, "mcp").record

    assert (record.name, record.version) == ("Notebook", "2.1.0")
    assert record.endpoint == notebook_url
    assert get_names(record, "mcp.tool") == ["add_note"]
    assert get_names(record, "mcp.resource") == ["note", "notes"]
    assert get_names(record, "mcp.prompt") == ["summarize"]


def test_introspection_reads_all_pages_until_a_cursor_repeats():
    with mcp_servers.run_app(mcp_servers.paginated_app()) as base_url:
        document = introspect_document(f"{base_url}/mcp")

    names = [tool["name"] for tool in document["tools"]]
    assert names == [f"tool_{n}" for n in range(5)]


def test_introspection_supports_older_revision(server):
    server.routes["/mcp"] = answer_legacy_request
    document = introspect_document(server.url("/mcp"))

    assert document["protocolVersion"] == "2025-03-26"
    assert document["tools"][0]["name"] == "dig"


@pytest.mark.parametrize(
    ("route", "error"),
    [
        (reply(401), AuthorizationRequired),
        (reply(403, www_authenticate="Bearer"), AuthorizationRequired),
        (reply(403), RequestRefused),
        (reply(404), FetchFailed),
        (reply(500), FetchFailed),
        (reply(body=b"<html>", content_type="text/html"), FetchFailed),
        (servers.redirect("http://127.0.0.2:1/mcp"), FetchFailed),
        (servers.gzip_reply(b"{}"), FetchFailed),
    ],
    ids=["401", "403 with challenge", "403", "404", "500", "html", "redirect", "gzip"],
)
def test_introspection_failure_raises_matching_error(server, route, error):
    server.routes["/mcp"] = route

    with pytest.raises(error):
        introspect_document(server.url("/mcp"))


def test_introspection_of_silent_server_times_out(server, settings):
    settings.AGENTLENS_FETCH_TIMEOUT = 0.5
    server.routes["/mcp"] = servers.never_respond

    with pytest.raises(FetchTimeout):
        introspect_document(server.url("/mcp"))


def test_introspection_follows_redirect_to_trailing_slash(server):
    server.routes["/mcp"] = servers.redirect("/mcp/", 307)
    server.routes["/mcp/"] = answer_legacy_request

    assert introspect_document(server.url("/mcp"))["tools"][0]["name"] == "dig"


def test_introspection_stops_at_redirect_loop(server):
    server.routes["/mcp"] = servers.redirect("/mcp", 307)

    with pytest.raises(FetchFailed):
        introspect_document(server.url("/mcp"))
    # A request without a session, with three redirects.
    assert len(server.requests) == 4


def test_introspection_does_not_follow_redirect_to_other_host(server):
    with servers.run_server() as other:
        other.routes["/mcp"] = answer_legacy_request
        server.routes["/mcp"] = servers.redirect(other.url("/mcp"), 307)
        with pytest.raises(FetchFailed):
            introspect_document(server.url("/mcp"), authorization="Bearer sesame")

    assert other.requests == []


def test_introspection_rejects_too_large_response(server):
    body = b"[" + b" " * 2_000_000
    server.routes["/mcp"] = reply(body=body, content_type="application/json")

    with pytest.raises(FetchFailed, match="larger than"):
        introspect_document(server.url("/mcp"))


def test_introspection_of_private_address_is_rejected(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = []

    with pytest.raises(UrlNotAllowed):
        introspect_document("http://127.0.0.1:1/mcp")


def test_introspection_supports_sse_transport():
    with mcp_servers.run_app(mcp_servers.sse_notebook_app()) as base_url:
        document = introspect_document(f"{base_url}/mcp")

    assert document["serverInfo"]["name"] == "notebook"
    assert [tool["name"] for tool in document["tools"]] == ["add_note"]


def test_server_without_resource_templates_is_introspected(server):
    """A server that declares resources need not support templates."""
    server.routes["/mcp"] = answer_with_lists(
        **{"resources": RESOURCES, "resources/templates": METHOD_NOT_FOUND}
    )
    document = introspect_document(server.url("/mcp"))

    assert [resource["name"] for resource in document["resources"]] == ["book"]
    assert document["resourceTemplates"] == []


def test_introspection_stops_at_page_limit(server, monkeypatch):
    def next_page(message):
        cursor = int((message.get("params") or {}).get("cursor", 0))
        return {"tools": [], "nextCursor": str(cursor + 1)}

    monkeypatch.setattr(introspection_module, "LIST_PAGE_LIMIT", 5)
    server.routes["/mcp"] = answer_with_lists(tools=next_page)

    introspection = asyncio.run(introspect(server.url("/mcp")))
    assert introspection.document["tools"] == []
    assert introspection.incomplete_reason == (
        "its tools were only partly read, because there are more than 5 pages or"
        f" {CAPABILITY_LIMIT} items"
    )


def test_introspection_succeeds_when_session_close_hangs(server):
    """Some servers never respond to the DELETE that ends the session."""
    route = answer_with_lists("2025-06-18", tools=TOOLS)

    def answer_except_delete(request):
        if request.method == "DELETE":
            return servers.never_respond(request)
        response = route(request)
        return [response[0].replace(b"\r\n", b"\r\nMcp-Session-Id: s1\r\n", 1)]

    server.routes["/mcp"] = answer_except_delete

    assert introspect_document(server.url("/mcp"))["tools"][0]["name"] == "dig"
    assert "DELETE" in {request.method for request in server.requests}


def get_rpc_methods(server):
    return [json.loads(item.body)["method"] for item in server.requests if item.body]


def test_introspection_of_older_stateless_server_sends_no_discover_t1(server):
    server.routes["/mcp"] = answer_legacy_request
    document = introspect_document(server.url("/mcp"))

    assert document["protocolVersion"] == "2025-03-26"
    assert get_rpc_methods(server) == [
        "ping",
        "initialize",
        "initialize",
        "notifications/initialized",
        "tools/list",
    ]


@pytest.mark.parametrize(
    ("revision", "is_closed"), [("2025-03-26", False), ("2025-06-18", True)]
)
def test_introspection_closes_session_only_if_server_survives_it_t1(
    server, revision, is_closed
):
    """The Python SDK 1.8 and 1.9 (2025-03-26) crashes when a session is closed."""
    server.routes["/mcp"] = answer_with_sessions(revision)
    document = introspect_document(server.url("/mcp"))

    assert document["tools"][0]["name"] == "dig"
    closed = [item for item in server.requests if item.method == "DELETE"]
    assert [item.headers["Mcp-Session-Id"] for item in closed] == ["s1"] * is_closed


def test_introspection_opens_one_session_only_t2(server):
    server.routes["/mcp"] = answer_with_sessions("2025-11-25")
    introspect_document(server.url("/mcp"))

    without_session = [
        json.loads(item.body)["method"]
        for item in server.requests
        if "Mcp-Session-Id" not in item.headers
    ]
    assert without_session == ["initialize"]


def answer_with_sessions(revision):
    """Return a route of a server that refuses unknown session IDs."""
    route = answer_with_lists(revision, tools=TOOLS)

    def answer(request):
        session_id = request.headers["Mcp-Session-Id"]
        if session_id not in (None, "s1"):
            return [reply(400, b"Bad Request: No valid session ID provided")]
        if request.method == "DELETE":
            return [reply()]
        response = route(request)
        return [response[0].replace(b"\r\n", b"\r\nMcp-Session-Id: s1\r\n", 1)]

    return answer


def test_introspection_logs_neither_authorization_nor_responses(server, log_output):
    malformed = b'{"jsonrpc": hush-hush'
    server.routes = {
        "/mcp": answer_legacy_request,
        "/malformed": reply(body=malformed, content_type="application/json"),
        "/401": reply(401),
    }
    for path in server.routes:
        with contextlib.suppress(FetchFailed):
            introspect_document(server.url(path), authorization="Bearer hush-hush")

    authorizations = {request.headers["Authorization"] for request in server.requests}
    assert authorizations == {"Bearer hush-hush"}
    assert "hush-hush" not in log_output.getvalue()
    assert "mcp" not in log_output.getvalue()

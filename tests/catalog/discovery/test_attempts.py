"""The URLs that an import tries, their order, and what a failure says about them."""

import pytest

from catalog.discovery import get_failed_search
from catalog.outbound.errors import (
    FetchError,
    FetchTimeout,
    NoDefinitionAtUrl,
    RequestRefused,
)
from catalog.registration.service import import_url, refresh_entry
from tests import mcp_servers
from tests.factories import card_bytes
from tests.mcp_servers import TOOLS, answer_legacy_request, answer_with_lists
from tests.servers import never_respond, reply, run_server

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("allow_loopback"),
]

PAGE = reply(body=b"<!doctype html><title>Parked</title>", content_type="text/html")


class AnyPath(dict):
    """Routes that answer every path in the same way."""

    def __init__(self, route):
        self.route = route

    def get(self, path, default=None):
        return self.route


def fail_import(url, error_class=FetchError, **options):
    """Import a URL that fails; return the error and its attempts."""
    with pytest.raises(error_class) as raised:
        import_url(url, **options)
    return raised.value, get_failed_search(raised.value).attempts


def test_import_of_site_without_agent_lists_every_url_t16(server):
    server.routes = AnyPath(PAGE)
    error, attempts = fail_import(server.url())

    count = len({attempt.url for attempt in attempts})
    assert str(error) == (
        f"No agent definition found at 127.0.0.1: {count} URLs were tried"
    )
    answers = {
        (attempt.method, attempt.url.removeprefix(server.url())): attempt
        for attempt in attempts
    }
    card = answers["GET", "/.well-known/agent-card.json"]
    assert (card.status, card.result) == (200, "200, HTML instead of JSON")
    for path in ("", "/mcp", "/sse"):
        assert answers["MCP", path].result.startswith("is not an MCP server")
    assert len(answers) == len(attempts)


def test_missing_pages_are_listed_with_their_status(server):
    error, attempts = fail_import(server.url("/agent"), NoDefinitionAtUrl)

    assert "URLs were tried" in str(error)
    documents = [attempt for attempt in attempts if attempt.method == "GET"]
    assert {(attempt.status, attempt.result) for attempt in documents} == {
        (404, "HTTP 404")
    }


def test_attempts_that_time_out_are_listed(server, settings):
    settings.AGENTLENS_FETCH_TIMEOUT = 0.5
    settings.AGENTLENS_FIRST_URL_WAIT = settings.AGENTLENS_NEXT_URL_WAIT = 0.05
    server.routes = AnyPath(never_respond)
    _, attempts = fail_import(server.url("/agent"), FetchTimeout)

    assert attempts
    assert all(attempt.status is None for attempt in attempts)
    assert all(attempt.result.startswith("Timed out after") for attempt in attempts)


def test_unreachable_host_is_tried_once(server):
    with run_server() as stopped_server:
        url = stopped_server.url()
    error, attempts = fail_import(url)

    assert str(error).startswith("Could not fetch from 127.0.0.1")
    assert len(attempts) == 1


def test_attempts_contain_no_query(server):
    _, attempts = fail_import(server.url("/agent?api_key=sesame"))

    assert "sesame" not in str(attempts)
    assert attempts[0].url == server.url("/agent?…")


def test_invalid_definition_is_reported_with_attempts(server):
    server.routes["/card"] = reply(body=card_bytes(name=""))
    with pytest.raises(Exception, match="not valid") as raised:
        import_url(server.url("/card"))

    attempts = get_failed_search(raised.value).attempts
    assert attempts[0].result == "200, an invalid A2A definition with 1 error(s)"


def test_403_of_mcp_host_check_is_quoted_t16(server):
    reason = "Access is only allowed at localhost:8931"
    server.routes["/mcp"] = reply(403, reason.encode(), content_type="text/plain")
    error, attempts = fail_import(server.url("/mcp"), RequestRefused)

    assert str(error) == f"127.0.0.1 refused the request (HTTP 403): {reason}"
    assert (attempts[0].method, attempts[0].status) == ("MCP", 403)


def test_refresh_failure_lists_attempts_t16(server):
    server.routes["/card"] = reply(body=card_bytes())
    entry = import_url(server.url("/card")).entry
    server.routes["/card"] = PAGE
    with pytest.raises(NoDefinitionAtUrl, match="HTML instead of a def") as raised:
        refresh_entry(entry)

    (attempt,) = get_failed_search(raised.value).attempts
    assert str(attempt) == f"GET {server.url('/card')}: 200, HTML instead of JSON"


@pytest.mark.parametrize(
    ("path", "build_app"),
    [
        ("/mcp", mcp_servers.notebook_app),
        ("/sse", lambda: mcp_servers.build_notebook().sse_app(sse_path="/sse")),
    ],
)
def test_mcp_server_is_found_on_bare_host_t16(path, build_app):
    with mcp_servers.run_app(build_app()) as base_url:
        entry = import_url(base_url).entry

    assert entry.agent_type.endpoint == f"{base_url}{path}"
    assert entry.source_url == f"{base_url}{path}"
    assert entry.display_name == "Notebook"


def test_import_of_agent_card_on_bare_host_needs_one_request(server):
    path = "/.well-known/agent-card.json"
    server.routes[path] = reply(body=card_bytes())
    import_url(server.url())

    # The second request is the probe.
    assert server.paths == [path, path]
    assert len(server.requests) == 2


@pytest.mark.parametrize("path", ["/mcp", "/team/mcp/", "/tools"])
def test_import_of_mcp_address_guesses_no_card_below_it_t2(server, path):
    server.routes[path] = answer_legacy_request
    entry = import_url(server.url(path)).entry

    assert entry.agent_type.endpoint == server.url(path)
    assert {request.path for request in server.requests} == {path}


def test_slow_mcp_server_is_not_disturbed_by_guesses_t2(server, settings):
    settings.AGENTLENS_FIRST_URL_WAIT = settings.AGENTLENS_NEXT_URL_WAIT = 0.01

    def list_tools(message):
        # The server answers after more time than a further URL would have to wait.
        list(zip(never_respond(None), range(4), strict=False))
        return TOOLS

    server.routes["/mcp"] = answer_with_lists(tools=list_tools)
    import_url(server.url("/mcp"))

    assert {request.path for request in server.requests} == {"/mcp"}


def test_host_that_refuses_get_is_asked_as_mcp_server_before_guesses_t2(server):
    """A server at the root of a host gets requests for all paths."""

    def route(request):
        if request.method != "POST":
            return [reply(406)]
        return answer_legacy_request(request)

    server.routes = AnyPath(route)
    entry = import_url(server.url("/")).entry

    assert entry.agent_type.endpoint == server.url("/")
    assert server.paths == ["/.well-known/agent-card.json"]


def test_refresh_does_not_guess_other_endpoints(server):
    """An entry at the root of a host is not refreshed from an agent at `/mcp`."""
    server.routes["/"] = answer_legacy_request
    entry = import_url(server.url("/"), "mcp").entry
    server.routes = {"/mcp": answer_legacy_request}
    with pytest.raises(FetchError):
        refresh_entry(entry)

    assert "/mcp" not in {request.path for request in server.requests}

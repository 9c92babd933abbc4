import gzip
import json
import socket
import threading
import time

import pytest

from capabilities.parsers import ParseError, ProtocolNotDetected
from catalog.ingestion.writer import IngestOutcome, ingest
from catalog.models import CatalogEntry, Source
from catalog.outbound.errors import FetchFailed, FetchTimeout, UrlNotAllowed
from catalog.registration.service import import_url, register, resolve_url
from tests.factories import card, card_bytes
from tests.servers import never_respond, redirect, reply

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("allow_loopback")]

A2A_PATHS = ["/.well-known/agent-card.json", "/.well-known/agent.json"]
MCP_PATHS = [
    "/server-card",
    "/.well-known/mcp/server-card.json",
    "/.well-known/mcp.json",
]
AGUI_PATHS = ["/capabilities"]
HTML_PAGE = reply(body=b"<!doctype html><title>An agent lives here</title>")
INVALID_CARD = reply(body=card_bytes(name="", skills=[]))


def reply_with_etag(body, etag='"1"'):
    """Return a route that sends the body, or 304 to clients that have this ETag."""

    def respond(request):
        is_current = request.headers["If-None-Match"] == etag
        yield reply(304) if is_current else reply(body=body, etag=etag)

    return respond


def get_definition_paths(server):
    """Return the paths from which a definition was requested."""
    return [
        request.path
        for request in server.requests
        if request.method == "GET" and request.headers["Accept"] != "text/event-stream"
    ]


@pytest.mark.parametrize(
    ("path", "protocol", "expected"),
    [
        ("", "", [*A2A_PATHS, *MCP_PATHS, *AGUI_PATHS, "/"]),
        ("/", "", [*A2A_PATHS, *MCP_PATHS, *AGUI_PATHS, "/"]),
        ("", "a2a", [*A2A_PATHS, "/"]),
        ("/", "mcp", [*MCP_PATHS, "/"]),
        ("?agent=1", "a2a", ["/?agent=1", *A2A_PATHS]),
        ("/b/", "a2a", ["/b/", *(f"/b{path}" for path in A2A_PATHS), *A2A_PATHS]),
        (
            "/b/c?d=e",
            "mcp",
            ["/b/c?d=e", *(f"/b/c{path}" for path in MCP_PATHS), *MCP_PATHS],
        ),
    ],
)
def test_resolve_url_tries_url_well_known_paths_and_root_in_order(
    path, protocol, expected, server, settings
):
    # The next URL is tried only after a response, however slow the machine is.
    settings.AGENTLENS_FIRST_URL_WAIT = settings.AGENTLENS_NEXT_URL_WAIT = 30
    settings.AGENTLENS_FETCH_TIMEOUT = 60
    with pytest.raises(FetchFailed):
        resolve_url(server.url(path), protocol)
    assert get_definition_paths(server) == expected


def test_resolve_url_tries_paths_below_url_before_root(server, settings):
    settings.AGENTLENS_FIRST_URL_WAIT = settings.AGENTLENS_NEXT_URL_WAIT = 30
    settings.AGENTLENS_FETCH_TIMEOUT = 60
    with pytest.raises(FetchFailed):
        resolve_url(server.url("/b"))
    paths_below = [f"/b{path}" for path in A2A_PATHS + MCP_PATHS + AGUI_PATHS]
    assert get_definition_paths(server) == ["/b", *paths_below, *A2A_PATHS, *MCP_PATHS]


@pytest.mark.parametrize("path", ["/b", "/b/", "/b/capabilities"])
def test_ag_ui_declaration_at_root_is_not_used_for_path(path, server):
    """The declaration does not name its agent."""
    server.routes["/capabilities"] = reply(body=b'{"identity": {"name": "Root"}}')

    with pytest.raises(FetchFailed):
        resolve_url(server.url(path))
    with pytest.raises(FetchFailed):
        resolve_url(server.url(path), "agui")


def test_capabilities_url_keeps_query_of_endpoint(server):
    server.routes["/b/capabilities?tenant=a"] = reply(body=b'{"transport": {}}')

    resolved = resolve_url(server.url("/b?tenant=a"), "agui")

    assert resolved.record.endpoint == server.url("/b?tenant=a")
    assert resolved.fetched.url == server.url("/b/capabilities?tenant=a")


@pytest.mark.parametrize("path", ["/b", "/b/.well-known/agent.json", *A2A_PATHS])
def test_first_definition_found_is_used(path, server):
    server.routes["/.well-known/mcp.json"] = reply(body=card_bytes(name="Too late"))
    server.routes[path] = reply(body=card_bytes())
    resolved = resolve_url(server.url("/b"))

    assert resolved.record.display_name == "Translator"
    assert resolved.fetched.url == server.url(path)
    assert server.paths[-1] == path


@pytest.mark.parametrize(
    "response",
    [HTML_PAGE, INVALID_CARD, reply(500), reply(body=b"[]"), reply(), b"no HTTP"],
    ids=["page", "invalid card", "error", "list", "empty", "no HTTP"],
)
def test_invalid_response_does_not_end_resolution(response, server):
    server.routes["/b"] = response
    server.routes[A2A_PATHS[0]] = reply(body=card_bytes())

    assert resolve_url(server.url("/b")).fetched.url == server.url(A2A_PATHS[0])


@pytest.mark.parametrize("url", ["", "agent.example", "http://[::1", "http://a/\x00"])
def test_invalid_url_is_rejected_without_requests_and_queries(
    url, django_assert_num_queries
):
    with django_assert_num_queries(0), pytest.raises(UrlNotAllowed):
        resolve_url(url)


def test_private_host_receives_no_requests(server, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = []

    with pytest.raises(UrlNotAllowed):
        resolve_url(server.url("/b"))
    assert server.requests == []


def test_redirect_to_private_address_ends_resolution(server):
    server.routes["/b"] = redirect("http://10.0.0.1/")

    with pytest.raises(UrlNotAllowed):
        resolve_url(server.url("/b"))
    assert server.paths == ["/b"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (reply(404), INVALID_CARD),
        (HTML_PAGE, INVALID_CARD),
        (INVALID_CARD, HTML_PAGE),
        (INVALID_CARD, reply(500)),
    ],
    ids=["after a 404", "after a page", "before a page", "before an error"],
)
@pytest.mark.parametrize("protocol", ["", "a2a"])
def test_invalid_card_is_reported_instead_of_other_failures(
    first, second, protocol, server
):
    server.routes["/b"], server.routes[A2A_PATHS[0]] = first, second

    with pytest.raises(ParseError) as raised:
        resolve_url(server.url("/b"), protocol)
    assert [problem.path for problem in raised.value.result.errors] == ["$.name"]


def test_unknown_document_is_reported_instead_of_404(server):
    server.routes["/.well-known/mcp.json"] = reply(body=b'{"hello": "world"}')

    with pytest.raises(ProtocolNotDetected):
        resolve_url(server.url())


def test_unknown_document_is_not_reported_as_invalid_declaration_t16(server):
    server.routes["/capabilities"] = reply(body=b'{"hello": "world"}')

    with pytest.raises(FetchFailed, match="No agent definition found"):
        resolve_url(server.url())


def test_failure_of_given_url_is_reported_first(server):
    server.routes["/b"] = reply(503)

    with pytest.raises(FetchFailed, match="returned HTTP 503"):
        resolve_url(server.url("/b"))


def test_timeout_is_reported_instead_of_404(server, settings):
    settings.AGENTLENS_FETCH_TIMEOUT = 1
    server.routes["/agent"] = never_respond

    with pytest.raises(FetchTimeout):
        resolve_url(server.url("/agent"))


def test_one_deadline_covers_all_requests(server, settings):
    settings.AGENTLENS_FETCH_TIMEOUT = 0.6

    def respond_slowly(request):
        time.sleep(0.15)
        yield reply(404)

    server.routes = dict.fromkeys([*A2A_PATHS, *MCP_PATHS, "/"], respond_slowly)
    with pytest.raises(FetchTimeout):
        resolve_url(server.url())
    assert len(server.requests) < 5


def test_unresponsive_host_raises_timeout(server, settings):
    settings.AGENTLENS_FETCH_TIMEOUT = 0.3
    server.routes[A2A_PATHS[0]] = never_respond
    start = time.monotonic()

    with pytest.raises(FetchTimeout):
        resolve_url(server.url())
    assert time.monotonic() - start < 10


def test_invalid_card_is_reported_instead_of_later_timeout(server, settings):
    settings.AGENTLENS_FETCH_TIMEOUT = 2
    server.routes |= {A2A_PATHS[0]: INVALID_CARD, A2A_PATHS[1]: never_respond}

    with pytest.raises(ParseError):
        resolve_url(server.url())


def test_slow_dns_lookup_raises_timeout_at_deadline(monkeypatch, settings):
    settings.AGENTLENS_FETCH_TIMEOUT = 0.3
    released = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: released.wait(30))
    start = time.monotonic()
    with pytest.raises(FetchTimeout):
        resolve_url("http://agent.example/")

    assert time.monotonic() - start < 10
    released.set()


def test_import_stores_source_url_and_etag(server):
    server.routes[A2A_PATHS[1]] = reply(body=card_bytes(), etag='W/"abc"')
    outcome = import_url(server.url())

    entry = CatalogEntry.objects.get()
    assert (outcome.outcome, outcome.entry) == (IngestOutcome.CREATED, entry)
    assert entry.source == Source.IMPORT
    assert entry.source_url == server.url(A2A_PATHS[1])
    assert entry.source_etag == 'W/"abc"'


def test_definition_from_other_url_clears_remembered_health_request_t2(server):
    server.routes |= dict.fromkeys(("/a", "/b"), reply(body=card_bytes()))
    entry = import_url(server.url("/a")).entry
    CatalogEntry.objects.update(probe_method="remembered")
    methods = []
    for path in ("/a", "/b"):
        ingest(resolve_url(server.url(path)).definition)
        entry.refresh_from_db()
        methods.append(entry.probe_method)

    assert methods == ["remembered", ""]


def test_resolve_url_stores_nothing(server):
    server.routes["/b"] = reply(body=card_bytes())
    resolve_url(server.url("/b"))
    assert not CatalogEntry.objects.exists()


def test_redirected_import_stores_requested_url(server):
    server.routes["/card"] = redirect("/elsewhere")
    server.routes["/elsewhere"] = reply(body=card_bytes(), etag='"1"')
    import_url(server.url("/card"))

    assert CatalogEntry.objects.get().source_url == server.url("/card")


@pytest.mark.parametrize("path", ["", "/card"])
def test_importing_same_definition_updates_only_last_seen(path, server):
    server.routes[path or A2A_PATHS[0]] = reply_with_etag(card_bytes())
    first = import_url(server.url(path)).entry
    second = import_url(server.url(path))

    assert (second.outcome, second.entry.pk) == (IngestOutcome.UNCHANGED, first.pk)
    assert second.entry.validity_last_seen > first.validity_last_seen
    assert second.entry.source_etag == '"1"'
    # Each import requests the definition and then probes the agent.
    etags = [request.headers["If-None-Match"] for request in server.requests]
    assert etags == [None, None, '"1"', None]


def test_importing_changed_definition_updates_entry(server):
    server.routes["/card"] = reply_with_etag(card_bytes())
    import_url(server.url("/card"))
    server.routes["/card"] = reply_with_etag(card_bytes(name="Interpreter"), '"2"')
    outcome = import_url(server.url("/card"))

    assert outcome.outcome == IngestOutcome.UPDATED
    assert outcome.entry.display_name == "Interpreter"
    assert outcome.entry.source_etag == '"2"'


def test_import_without_etag_sends_no_if_none_match(server):
    server.routes["/card"] = reply(body=card_bytes())
    import_url(server.url("/card"))

    assert import_url(server.url("/card")).outcome == IngestOutcome.UNCHANGED
    assert "If-None-Match" not in server.requests[1].headers


def test_unexpected_304_raises_fetch_failed(server):
    server.routes["/card"] = reply(body=card_bytes())
    import_url(server.url("/card"))
    server.routes["/card"] = reply(304)

    with pytest.raises(FetchFailed, match="returned HTTP 304"):
        import_url(server.url("/card"))


def test_import_after_push_restores_published_definition(server):
    server.routes["/card"] = reply_with_etag(card_bytes(name="Hosted"))
    import_url(server.url("/card"))
    register(card_bytes(name="Pushed"))
    outcome = import_url(server.url("/card"))

    assert outcome.outcome == IngestOutcome.UPDATED
    assert outcome.entry.display_name == "Hosted"


def test_import_sends_etag_of_agent_imported_last_from_the_url(server):
    for n in (1, 2):
        url = f"https://agent{n}.example.com/a2a"
        server.routes["/card"] = reply_with_etag(card_bytes(url=url), f'"{n}"')
        import_url(server.url("/card"))
    outcome = import_url(server.url("/card"))

    assert outcome.outcome == IngestOutcome.UNCHANGED
    assert outcome.entry.agent_type.endpoint == "https://agent2.example.com/a2a"
    *_, definition_request, _ = server.requests
    assert definition_request.headers["If-None-Match"] == '"2"'


DEFINITIONS = {
    "plain": card_bytes(),
    "byte order mark": b"\xef\xbb\xbf" + card_bytes(),
    "CRLF line ends": json.dumps(card(), indent=2).replace("\n", "\r\n").encode()
    + b"\r\n",
    "unescaped non-ASCII": json.dumps(
        card(name="Übersetzer"), ensure_ascii=False
    ).encode(),
    "repeated member": card_bytes()[:-1] + b', "name": "Translator"}',
}


@pytest.mark.parametrize("raw", DEFINITIONS.values(), ids=DEFINITIONS)
def test_definition_bytes_are_stored_unchanged(raw, server):
    compressed = gzip.compress(raw)
    server.routes["/card"] = reply(body=compressed, content_encoding="gzip")
    imported = import_url(server.url("/card"))
    assert CatalogEntry.objects.get().agent_type.definition == raw
    pushed = register(raw)

    assert imported.outcome == IngestOutcome.CREATED
    assert pushed.outcome == IngestOutcome.UNCHANGED
    assert CatalogEntry.objects.get().agent_type.definition == raw


def test_import_returns_warnings_of_definition(server):
    server.routes["/card"] = reply(body=card_bytes(oddity=1))

    warnings = import_url(server.url("/card")).warnings
    assert [warning.path for warning in warnings] == ["$.oddity"]

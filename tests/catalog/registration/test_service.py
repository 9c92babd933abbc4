import gzip
import json
import socket
import threading
import time

import pytest

from capabilities.parsers import ParseError, ProtocolNotDetected
from catalog.ingestion.writer import Result
from catalog.models import CatalogEntry, Source
from catalog.outbound.errors import FetchFailed, FetchTimeout, UrlNotAllowed
from catalog.registration.service import import_url, register, resolve_url
from tests.factories import card, card_bytes
from tests.servers import LOOPBACK, redirect, reply, serving, silence

pytestmark = pytest.mark.django_db

A2A = ["/.well-known/agent-card.json", "/.well-known/agent.json"]
MCP = [
    "/server-card",
    "/.well-known/mcp/server-card.json",
    "/.well-known/mcp.json",
]
AGUI = ["/capabilities"]
PAGE = reply(body=b"<!doctype html><title>An agent lives here</title>")
FAULTY = reply(body=card_bytes(name="", skills=[]))


@pytest.fixture
def server(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    settings.AGENTLENS_FETCH_TIMEOUT = 5
    with serving() as server:
        yield server


def cached(body, etag='"1"'):
    """A route that knows what the client holds already."""

    def route(request):
        held = request.headers["If-None-Match"] == etag
        yield reply(304) if held else reply(body=body, etag=etag)

    return route


def fetched(server):
    """What definitions were looked for at, beside asking the agent itself."""
    asked = [r for r in server.requests if r.method == "GET"]
    return [r.path for r in asked if r.headers["Accept"] != "text/event-stream"]


@pytest.mark.parametrize(
    ("asked", "protocol", "expected"),
    [
        ("", "", [*A2A, *MCP, *AGUI, "/"]),
        ("/", "", [*A2A, *MCP, *AGUI, "/"]),
        ("", "a2a", [*A2A, "/"]),
        ("/", "mcp", [*MCP, "/"]),
        ("?agent=1", "a2a", ["/?agent=1", *A2A]),
        ("/b/", "a2a", ["/b/", *(f"/b{path}" for path in A2A), *A2A]),
        ("/b/c?d=e", "mcp", ["/b/c?d=e", *(f"/b/c{path}" for path in MCP), *MCP]),
    ],
)
def test_the_url_its_known_paths_and_the_root_are_asked_in_order(
    asked, protocol, expected, server
):
    with pytest.raises(FetchFailed):
        resolve_url(server.url(asked), protocol)
    assert fetched(server) == expected


def test_below_the_path_comes_before_the_root_for_every_protocol(server):
    with pytest.raises(FetchFailed):
        resolve_url(server.url("/b"))
    below = [f"/b{path}" for path in A2A + MCP + AGUI]
    assert fetched(server) == ["/b", *below, *A2A, *MCP]


@pytest.mark.parametrize("asked", ["/b", "/b/", "/b/capabilities"])
def test_a_declaration_at_the_root_is_of_another_agent(asked, server):
    """It does not say whose it is."""
    server.routes["/capabilities"] = reply(body=b'{"identity": {"name": "Root"}}')

    with pytest.raises(FetchFailed):
        resolve_url(server.url(asked))
    with pytest.raises(FetchFailed):
        resolve_url(server.url(asked), "agui")


def test_the_query_of_an_agent_is_kept_where_it_declares(server):
    server.routes["/b/capabilities?tenant=a"] = reply(body=b'{"transport": {}}')

    found = resolve_url(server.url("/b?tenant=a"), "agui")

    assert found.record.endpoint == server.url("/b?tenant=a")
    assert found.fetched.url == server.url("/b/capabilities?tenant=a")


@pytest.mark.parametrize("place", ["/b", "/b/.well-known/agent.json", *A2A])
def test_the_first_definition_found_wins(place, server):
    server.routes["/.well-known/mcp.json"] = reply(body=card_bytes(name="Too late"))
    server.routes[place] = reply(body=card_bytes())
    found = resolve_url(server.url("/b"))

    assert found.record.display_name == "Translator"
    assert found.fetched.url == server.url(place)
    assert server.paths[-1] == place


@pytest.mark.parametrize(
    "before",
    [PAGE, FAULTY, reply(500), reply(body=b"[]"), reply(), b"no HTTP"],
    ids=["page", "faulty card", "error", "list", "nothing", "no HTTP"],
)
def test_what_is_no_definition_does_not_stop_the_search(before, server):
    server.routes["/b"] = before
    server.routes[A2A[0]] = reply(body=card_bytes())

    assert resolve_url(server.url("/b")).fetched.url == server.url(A2A[0])


@pytest.mark.parametrize("url", ["", "agent.example", "http://[::1", "http://a/\x00"])
def test_what_is_no_web_address_is_refused_before_anything_is_asked(
    url, django_assert_num_queries
):
    with django_assert_num_queries(0), pytest.raises(UrlNotAllowed):
        resolve_url(url)


def test_a_private_host_is_asked_nothing_at_all(server, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = []

    with pytest.raises(UrlNotAllowed):
        resolve_url(server.url("/b"))
    assert server.requests == []


def test_a_redirect_to_where_nobody_may_go_ends_the_search(server):
    server.routes["/b"] = redirect("http://10.0.0.1/")

    with pytest.raises(UrlNotAllowed):
        resolve_url(server.url("/b"))
    assert server.paths == ["/b"]


@pytest.mark.parametrize(
    ("first", "second"),
    [(reply(404), FAULTY), (PAGE, FAULTY), (FAULTY, PAGE), (FAULTY, reply(500))],
    ids=["after a 404", "after a page", "before a page", "before an error"],
)
@pytest.mark.parametrize("protocol", ["", "a2a"])
def test_a_card_with_faults_is_the_failure_told(first, second, protocol, server):
    server.routes["/b"], server.routes[A2A[0]] = first, second

    with pytest.raises(ParseError) as caught:
        resolve_url(server.url("/b"), protocol)
    assert [problem.path for problem in caught.value.result.errors] == ["$.name"]


def test_a_page_that_is_no_card_says_more_than_nothing_there(server):
    server.routes["/.well-known/mcp.json"] = reply(body=b'{"hello": "world"}')

    with pytest.raises(ProtocolNotDetected):
        resolve_url(server.url())


def test_of_failures_alike_the_given_url_s_own_is_told(server):
    server.routes["/b"] = reply(503)

    with pytest.raises(FetchFailed, match="returned HTTP 503"):
        resolve_url(server.url("/b"))


def test_that_one_place_hangs_is_told_and_not_that_others_are_empty(server, settings):
    settings.AGENTLENS_FETCH_TIMEOUT = 1
    server.routes["/agent"] = silence

    with pytest.raises(FetchTimeout):
        resolve_url(server.url("/agent"))


def test_one_deadline_holds_for_the_whole_search(server, settings):
    settings.AGENTLENS_FETCH_TIMEOUT = 0.6

    def slowly(request):
        time.sleep(0.15)
        yield reply(404)

    server.routes = dict.fromkeys([*A2A, *MCP, "/"], slowly)
    with pytest.raises(FetchTimeout):
        resolve_url(server.url())
    assert len(server.requests) < 5


def test_a_host_that_never_answers_is_a_timeout(server, settings):
    settings.AGENTLENS_FETCH_TIMEOUT = 0.3
    server.routes[A2A[0]] = silence
    began = time.monotonic()

    with pytest.raises(FetchTimeout):
        resolve_url(server.url())
    assert time.monotonic() - began < 10


def test_a_fault_found_before_time_ran_out_is_told(server, settings):
    settings.AGENTLENS_FETCH_TIMEOUT = 2
    server.routes |= {A2A[0]: FAULTY, A2A[1]: silence}

    with pytest.raises(ParseError):
        resolve_url(server.url())


def test_a_slow_look_up_does_not_outlast_the_deadline(monkeypatch, settings):
    settings.AGENTLENS_FETCH_TIMEOUT = 0.3
    answered = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answered.wait(30))
    began = time.monotonic()
    with pytest.raises(FetchTimeout):
        resolve_url("http://agent.example/")

    assert time.monotonic() - began < 10
    answered.set()


def test_an_import_remembers_where_it_is_from(server):
    server.routes[A2A[1]] = reply(body=card_bytes(), etag='W/"abc"')
    outcome = import_url(server.url())

    entry = CatalogEntry.objects.get()
    assert (outcome.result, outcome.entry) == (Result.CREATED, entry)
    assert entry.source == Source.IMPORT
    assert entry.source_url == server.url(A2A[1])
    assert entry.source_etag == 'W/"abc"'


def test_finding_stores_nothing(server):
    server.routes["/b"] = reply(body=card_bytes())
    resolve_url(server.url("/b"))
    assert not CatalogEntry.objects.exists()


def test_a_redirected_import_remembers_the_url_that_was_asked(server):
    server.routes["/card"] = redirect("/elsewhere")
    server.routes["/elsewhere"] = reply(body=card_bytes(), etag='"1"')
    import_url(server.url("/card"))

    assert CatalogEntry.objects.get().source_url == server.url("/card")


@pytest.mark.parametrize("asked", ["", "/card"])
def test_importing_the_same_again_changes_nothing_but_last_seen(asked, server):
    place = asked or A2A[0]
    server.routes[place] = cached(card_bytes())
    first = import_url(server.url(asked)).entry
    again = import_url(server.url(asked))

    assert (again.result, again.entry.pk) == (Result.UNCHANGED, first.pk)
    assert again.entry.validity_last_seen > first.validity_last_seen
    assert again.entry.source_etag == '"1"'
    # Each import asks for the definition, and then whether the agent lives.
    held = [request.headers["If-None-Match"] for request in server.requests]
    assert held == [None, None, '"1"', None]


def test_a_changed_definition_is_brought_up_to_date(server):
    server.routes["/card"] = cached(card_bytes())
    import_url(server.url("/card"))
    server.routes["/card"] = cached(card_bytes(name="Interpreter"), '"2"')
    outcome = import_url(server.url("/card"))

    assert outcome.result == Result.UPDATED
    assert outcome.entry.display_name == "Interpreter"
    assert outcome.entry.source_etag == '"2"'


def test_without_an_etag_the_whole_definition_is_asked_for_again(server):
    server.routes["/card"] = reply(body=card_bytes())
    import_url(server.url("/card"))

    assert import_url(server.url("/card")).result == Result.UNCHANGED
    assert "If-None-Match" not in server.requests[1].headers


def test_an_unasked_for_not_modified_is_no_definition(server):
    server.routes["/card"] = reply(body=card_bytes())
    import_url(server.url("/card"))
    server.routes["/card"] = reply(304)

    with pytest.raises(FetchFailed, match="returned HTTP 304"):
        import_url(server.url("/card"))


def test_an_import_after_a_push_brings_back_what_the_host_says(server):
    server.routes["/card"] = cached(card_bytes(name="Hosted"))
    import_url(server.url("/card"))
    register(card_bytes(name="Pushed"))
    outcome = import_url(server.url("/card"))

    assert outcome.result == Result.UPDATED
    assert outcome.entry.display_name == "Hosted"


def test_of_two_agents_from_one_place_the_latest_is_the_one_we_hold(server):
    for n in (1, 2):
        url = f"https://agent{n}.example.com/a2a"
        server.routes["/card"] = cached(card_bytes(url=url), f'"{n}"')
        import_url(server.url("/card"))
    outcome = import_url(server.url("/card"))

    assert outcome.result == Result.UNCHANGED
    assert outcome.entry.agent_type.endpoint == "https://agent2.example.com/a2a"
    *_, asked, _ = server.requests
    assert asked.headers["If-None-Match"] == '"2"'


BYTES = {
    "plain": card_bytes(),
    "byte order mark": b"\xef\xbb\xbf" + card_bytes(),
    "line ends": json.dumps(card(), indent=2).replace("\n", "\r\n").encode() + b"\r\n",
    "not escaped": json.dumps(card(name="Übersetzer"), ensure_ascii=False).encode(),
    "member twice": card_bytes()[:-1] + b', "name": "Translator"}',
}


@pytest.mark.parametrize("raw", BYTES.values(), ids=BYTES)
def test_the_very_bytes_are_kept(raw, server):
    packed = gzip.compress(raw)
    server.routes["/card"] = reply(body=packed, content_encoding="gzip")
    imported = import_url(server.url("/card"))
    assert CatalogEntry.objects.get().agent_type.definition == raw
    pushed = register(raw)

    assert imported.result == Result.CREATED
    assert pushed.result == Result.UNCHANGED
    assert CatalogEntry.objects.get().agent_type.definition == raw


def test_an_import_tells_what_is_odd_about_a_definition(server):
    server.routes["/card"] = reply(body=card_bytes(oddity=1))

    warnings = import_url(server.url("/card")).warnings
    assert [warning.path for warning in warnings] == ["$.oddity"]

import asyncio
import contextlib
import ipaddress
import json

import pytest

from capabilities.parsers import try_parse
from catalog.ingestion.writer import Result
from catalog.integrations.mcp import introspection as introspect_module
from catalog.integrations.mcp.introspection import introspect
from catalog.models import AgentType, CatalogEntry, Source, Status
from catalog.outbound.errors import (
    AuthorizationRequired,
    FetchFailed,
    FetchTimeout,
    UrlNotAllowed,
)
from catalog.registration.export import export_lines
from catalog.registration.service import import_url, refresh_entry, register
from tests import mcp_servers, servers
from tests.factories import card_bytes
from tests.mcp_servers import answer_authorized_request, answer_legacy_request
from tests.servers import reply

needs_tables = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _loopback_is_allowed(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = [ipaddress.ip_network("127.0.0.1/32")]
    settings.AGENTLENS_FETCH_TIMEOUT = 5


@pytest.fixture
def server():
    with servers.run_server() as server:
        yield server


@pytest.fixture(scope="module")
def notebook():
    with mcp_servers.run_app(mcp_servers.notebook_app()) as address:
        yield f"{address}/mcp"


def told(url, **options):
    return asyncio.run(introspect(url, **options)).document


def names(record, kind):
    return sorted(c.name for c in record.capabilities if c.kind == kind)


def test_a_running_server_tells_all_it_offers(notebook):
    raw = json.dumps(told(notebook)).encode()
    record = try_parse(raw, "mcp").record

    assert (record.name, record.version) == ("Notebook", "2.1.0")
    assert record.endpoint == notebook
    assert names(record, "mcp.tool") == ["add_note"]
    assert names(record, "mcp.resource") == ["note", "notes"]
    assert names(record, "mcp.prompt") == ["summarise"]


def test_every_page_is_read_and_a_circle_is_left():
    with mcp_servers.run_app(mcp_servers.paginated_app()) as address:
        document = told(f"{address}/mcp")

    tools = [tool["name"] for tool in document["tools"]]
    assert tools == [f"tool_{n}" for n in range(5)]


def test_a_server_of_an_older_revision_is_understood(server):
    server.routes["/mcp"] = answer_legacy_request
    document = told(server.url("/mcp"))

    assert document["protocolVersion"] == "2025-03-26"
    assert document["tools"][0]["name"] == "dig"


@pytest.mark.parametrize(
    ("route", "error"),
    [
        (reply(401), AuthorizationRequired),
        (reply(403), AuthorizationRequired),
        (reply(404), FetchFailed),
        (reply(500), FetchFailed),
        (reply(body=b"<html>", content_type="text/html"), FetchFailed),
        (servers.redirect("http://127.0.0.2:1/mcp"), FetchFailed),
        (servers.gzip_reply(b"{}"), FetchFailed),
    ],
    ids=["401", "403", "404", "500", "html", "redirect", "packed"],
)
def test_who_does_not_tell_is_told_apart(server, route, error):
    server.routes["/mcp"] = route

    with pytest.raises(error):
        told(server.url("/mcp"))


def test_who_says_nothing_at_all_is_not_waited_for_long(server, settings):
    settings.AGENTLENS_FETCH_TIMEOUT = 0.5
    server.routes["/mcp"] = servers.never_respond

    with pytest.raises(FetchTimeout):
        told(server.url("/mcp"))


def test_a_server_a_slash_further_is_found(server):
    server.routes["/mcp"] = servers.redirect("/mcp/", 307)
    server.routes["/mcp/"] = answer_legacy_request

    assert told(server.url("/mcp"))["tools"][0]["name"] == "dig"


def test_who_sends_us_round_in_circles_is_left(server):
    server.routes["/mcp"] = servers.redirect("/mcp", 307)

    with pytest.raises(FetchFailed):
        told(server.url("/mcp"))
    # Once in the words of today and once in older ones, each with three redirects.
    assert len(server.requests) == 2 * 4


def test_nobody_is_sent_on_to_another_host(server):
    with servers.run_server() as other:
        other.routes["/mcp"] = answer_legacy_request
        server.routes["/mcp"] = servers.redirect(other.url("/mcp"), 307)
        with pytest.raises(FetchFailed):
            told(server.url("/mcp"), authorization="Bearer sesame")

    assert other.requests == []


def test_an_endless_answer_is_cut_off(server):
    body = b"[" + b" " * 2_000_000
    server.routes["/mcp"] = reply(body=body, content_type="application/json")

    with pytest.raises(FetchFailed, match="larger than"):
        told(server.url("/mcp"))


def test_a_private_server_is_not_asked(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = []

    with pytest.raises(UrlNotAllowed):
        told("http://127.0.0.1:1/mcp")


def test_a_server_of_2024_is_understood():
    with mcp_servers.run_app(mcp_servers.sse_notebook_app()) as address:
        document = told(f"{address}/mcp")

    assert document["serverInfo"]["name"] == "notebook"
    assert [tool["name"] for tool in document["tools"]] == ["add_note"]


def speaking(**lists):
    """A server of 2025 that answers each list as told: a result, an error, a route."""
    capabilities = {name.partition("/")[0]: {} for name in lists}
    greeting = {
        "protocolVersion": "2025-03-26",
        "capabilities": capabilities,
        "serverInfo": {"name": "shelf", "version": "1"},
    }
    answers = {"initialize": greeting}
    answers |= {f"{name}/list": told for name, told in lists.items()}

    def answer(request):
        message = json.loads(request.body or b"{}")
        method = message.get("method")
        if method not in answers:
            return [reply(202 if "id" not in message else 400)]
        told = answers[method]
        told = told(message) if callable(told) else told
        if isinstance(told, bytes):
            return [told]
        kind = "error" if "code" in told else "result"
        body = {"jsonrpc": "2.0", "id": message["id"], kind: told}
        return [reply(body=json.dumps(body).encode(), content_type="application/json")]

    return answer


BOOKS = {"resources": [{"name": "book", "uri": "book://1"}]}
DIGGING = {"tools": [{"name": "dig", "inputSchema": {"type": "object"}}]}
NO_METHOD = {"code": -32601, "message": "Method not found"}
BROKEN = {"code": -32603, "message": "The shelf fell down"}


def test_a_server_without_templates_is_no_failure(server):
    """They are declared with their kin, and yet not every server has them."""
    server.routes["/mcp"] = speaking(
        **{"resources": BOOKS, "resources/templates": NO_METHOD}
    )
    document = told(server.url("/mcp"))

    assert [each["name"] for each in document["resources"]] == ["book"]
    assert document["resourceTemplates"] == []


@needs_tables
@pytest.mark.parametrize("protocol", ["", "mcp"])
@pytest.mark.parametrize("fault", [BROKEN, reply(500)], ids=["error", "500"])
def test_one_list_that_is_withheld_costs_no_other(server, protocol, fault):
    server.routes["/mcp"] = speaking(tools=DIGGING, prompts=fault)
    outcome = import_url(server.url("/mcp"), protocol)

    assert tools(outcome.entry) == ["dig"]
    problem = outcome.entry.definition_problem
    assert problem.startswith("the server did not list its prompts (")
    assert outcome.warnings[0].message == problem


@needs_tables
def test_what_is_withheld_later_stays_as_it_was_told(server):
    server.routes["/mcp"] = speaking(tools=DIGGING, prompts={"prompts": []})
    entry = import_url(server.url("/mcp")).entry
    server.routes["/mcp"] = speaking(tools=BROKEN, prompts={"prompts": [{"name": "p"}]})
    changes = refresh_entry(entry).changes

    assert changes.removed == []
    assert [one["name"] for one in changes.added] == ["p"]
    entry.refresh_from_db()
    assert "tools (The shelf fell down)" in entry.definition_problem


@needs_tables
def test_one_tool_that_is_not_right_is_a_warning_at_its_place(server):
    listed = [{"name": "dig"}, {"name": "fill", "inputSchema": {}, "x-new": {"a": 1}}]
    server.routes["/mcp"] = speaking(tools={"tools": listed})
    outcome = import_url(server.url("/mcp"))

    assert tools(outcome.entry) == ["dig", "fill"]
    places = [warning.path for warning in outcome.warnings]
    assert "$.tools[0].inputSchema" in places
    # As it was said, to the last member.
    assert json.loads(outcome.entry.agent_type.definition)["tools"] == listed


def test_who_lists_nothing_for_ever_is_left(server, monkeypatch):
    def next_page(message):
        cursor = int((message.get("params") or {}).get("cursor", 0))
        return {"tools": [], "nextCursor": str(cursor + 1)}

    monkeypatch.setattr(introspect_module, "LIST_PAGE_LIMIT", 5)
    server.routes["/mcp"] = speaking(tools=next_page)

    answer = asyncio.run(introspect(server.url("/mcp")))
    assert answer.document["tools"] == []
    assert answer.problem == "only 5 pages of its tools were read"


def test_who_will_not_be_left_has_said_all_the_same(server):
    """Some never answer when a session is ended."""
    speak = speaking(tools=DIGGING)

    def clinging(request):
        if request.method == "DELETE":
            return servers.never_respond(request)
        answer = speak(request)
        return [answer[0].replace(b"\r\n", b"\r\nMcp-Session-Id: s1\r\n", 1)]

    server.routes["/mcp"] = clinging

    assert told(server.url("/mcp"))["tools"][0]["name"] == "dig"
    assert "DELETE" in {request.method for request in server.requests}


@needs_tables
def test_who_begins_to_speak_and_breaks_off_is_told_so(server):
    server.routes["/mcp"] = speaking(tools=b"")

    with pytest.raises(FetchFailed, match="speaks MCP but ended the session early"):
        import_url(server.url("/mcp"))


@needs_tables
def test_a_server_that_never_answers_a_get_is_found_all_the_same(server, settings):
    """GET opens a stream there, on which nothing is said."""
    settings.AGENTLENS_FIRST_URL_PATIENCE = 0.2
    speak = speaking(tools=DIGGING)

    def only_posts(request):
        return speak(request) if request.method == "POST" else servers.never_respond(request)

    server.routes["/mcp"] = only_posts

    assert tools(import_url(server.url("/mcp")).entry) == ["dig"]


def test_nothing_a_server_says_or_is_told_is_logged(server, log_output):
    junk = reply(body=b'{"jsonrpc": hush-hush', content_type="application/json")
    server.routes |= {"/mcp": answer_legacy_request, "/junk": junk, "/401": reply(401)}
    for place in server.routes:
        with contextlib.suppress(FetchFailed):
            told(server.url(place), authorization="Bearer hush-hush")

    sent = {request.headers["Authorization"] for request in server.requests}
    assert sent == {"Bearer hush-hush"}
    assert "hush-hush" not in log_output.getvalue()
    assert "mcp" not in log_output.getvalue()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("protocol", ["", "mcp"])
def test_importing_a_running_server_makes_it_searchable_at_once(notebook, protocol):
    entry = import_url(notebook, protocol).entry

    assert (entry.source, entry.status) == (Source.IMPORT, Status.ACTIVE)
    assert entry.source_url == notebook
    assert entry.rows.filter(kind="mcp.tool").count() == 1


def published(server, place="/.well-known/mcp.json", **members):
    """A card of the server at `/mcp`, without a word of its tools."""
    card = {
        "name": "vault",
        "version": "1.0",
        "remotes": [{"type": "streamable-http", "url": server.url("/mcp")}],
        "packages": [{"registryType": "npm", "identifier": "vault"}],
    }
    server.routes[place] = reply(body=json.dumps(card | members).encode())


def tools(entry):
    rows = entry.agent_type.capabilities.filter(kind="mcp.tool")
    return sorted(rows.values_list("name", flat=True))


@needs_tables
@pytest.mark.parametrize("protocol", ["", "mcp"])
@pytest.mark.parametrize("asked", ["/mcp", ""])
def test_who_asks_for_authorisation_is_catalogued_from_its_card(
    server, asked, protocol
):
    server.routes["/mcp"] = answer_authorized_request
    published(server)
    outcome = import_url(server.url(asked), protocol)

    said = "the server requires authorization: only its card was read"
    assert (outcome.entry.display_name, tools(outcome.entry)) == ("vault", [])
    assert outcome.warnings[0].message == said
    entry = CatalogEntry.objects.get()
    assert (entry.status, entry.definition_problem) == (Status.ACTIVE, said)


@needs_tables
@pytest.mark.parametrize("protocol", ["", "mcp"])
def test_with_the_word_it_tells_all_beside_its_card(server, protocol):
    server.routes["/mcp"] = answer_authorized_request
    published(server)
    entry = import_url(server.url(), protocol, "Bearer sesame").entry

    assert (tools(entry), entry.definition_problem) == (["dig"], "")
    document = json.loads(entry.agent_type.definition)
    assert document["packages"][0]["identifier"] == "vault"
    assert entry.source_url == server.url("/.well-known/mcp.json")


@needs_tables
def test_what_it_told_once_stays_though_it_tells_no_more(server):
    server.routes["/mcp"] = answer_authorized_request
    published(server)
    import_url(server.url(), authorization="Bearer sesame")
    published(server, title="The vault")
    outcome = import_url(server.url())

    assert (outcome.entry.display_name, tools(outcome.entry)) == ("The vault", ["dig"])
    assert "requires authorization" in outcome.entry.definition_problem


@needs_tables
def test_told_again_it_is_the_same_to_the_last_byte(server):
    server.routes["/mcp"] = answer_legacy_request
    published(server)
    import_url(server.url())

    assert import_url(server.url()).result == Result.UNCHANGED


@needs_tables
def test_the_word_is_for_whom_one_asked_not_for_whom_a_card_names(server):
    with servers.run_server() as other:
        other.routes["/mcp"] = answer_authorized_request
        remotes = [{"type": "streamable-http", "url": other.url("/mcp")}]
        published(server, remotes=remotes)
        outcome = import_url(server.url(), authorization="Bearer sesame")

    assert {request.headers["Authorization"] for request in other.requests} == {None}
    assert tools(outcome.entry) == []


@needs_tables
def test_a_refresh_asks_the_server_and_its_card_on_the_same_host(server):
    server.routes["/mcp"] = answer_authorized_request
    published(server)
    entry = import_url(server.url()).entry
    server.requests.clear()
    refresh_entry(entry, "Bearer sesame")

    trusted = {r.path for r in server.requests if r.headers["Authorization"]}
    assert trusted == {"/mcp", "/.well-known/mcp.json"}
    entry.refresh_from_db()
    assert tools(entry) == ["dig"]


@needs_tables
def test_what_was_pushed_of_a_server_stays_when_it_is_asked(server):
    """A registry's entry says much that the server itself does not."""
    server.routes["/mcp"] = answer_legacy_request
    card = {
        "name": "com.example/vault",
        "title": "The Vault",
        "description": "Keeps things",
        "version": "1.2.3",
        "websiteUrl": "https://vault.example",
        "packages": [{"registryType": "npm", "identifier": "vault"}],
        "remotes": [{"type": "streamable-http", "url": server.url("/mcp")}],
    }
    entry = register(json.dumps(card).encode()).entry
    for _ in range(2):
        refresh_entry(entry)
        entry.refresh_from_db()

    assert (entry.display_name, entry.agent_type.version) == ("The Vault", "1.2.3")
    assert tools(entry) == ["dig"]
    kept = json.loads(entry.agent_type.definition)
    assert {key: kept[key] for key in card} == card


@needs_tables
def test_pushing_a_card_again_takes_nothing_away_that_its_server_told(server):
    server.routes["/mcp"] = answer_legacy_request
    remote = {"type": "streamable-http", "url": server.url("/mcp")}
    card = {"name": "com.example/vault", "description": "Vault", "version": "1.0.0"}
    card["remotes"] = [remote]
    entry = register(json.dumps(card).encode()).entry
    refresh_entry(entry)

    assert register(json.dumps(card).encode()).result == "unchanged"
    renamed = card | {"description": "Keeps things"}
    told = register(json.dumps(renamed).encode())
    assert (told.result, told.changes.removed) == ("updated", [])
    assert told.entry.description == "Keeps things"
    assert tools(told.entry) == ["dig"]


@needs_tables
def test_a_card_that_lists_tools_is_taken_at_its_word(server):
    server.routes["/mcp"] = answer_legacy_request
    entry = import_url(server.url("/mcp"), "mcp").entry
    stated = json.loads(entry.agent_type.definition)
    stated["tools"] = [{"name": "fill", "inputSchema": {"type": "object"}}]
    register(json.dumps(stated).encode())

    entry.refresh_from_db()
    assert tools(entry) == ["fill"]


@needs_tables
def test_a_running_server_comes_before_a_card_of_another(server):
    """At the root of a host there may be a card of one of its many servers."""
    server.routes["/other"] = answer_legacy_request
    published(server)
    entry = import_url(server.url("/other")).entry

    assert entry.agent_type.endpoint == server.url("/other")


@needs_tables
def test_who_leaves_every_caller_listening_is_imported_all_the_same():
    with mcp_servers.run_app(mcp_servers.stateless_notebook_app()) as address:
        entry = import_url(f"{address}/mcp").entry

    assert tools(entry) == ["add_note"]


@needs_tables
def test_authorization_is_never_stored(server):
    server.routes["/mcp"] = answer_authorized_request
    published(server)
    entry = import_url(server.url(), authorization="Bearer sesame").entry
    rows = [*CatalogEntry.objects.values(), *AgentType.objects.values()]
    rows += entry.agent_type.capabilities.values()

    assert "sesame" not in str(rows)
    assert "sesame" not in "".join(export_lines())


@needs_tables
def test_a_card_is_still_found_before_anybody_is_asked(server):
    server.routes["/.well-known/agent-card.json"] = reply(body=card_bytes())
    import_url(server.url())

    assert {request.method for request in server.requests} == {"GET"}

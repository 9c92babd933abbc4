"""Imports, refreshes and registrations of MCP servers."""

import json

import pytest

from catalog.ingestion.writer import IngestOutcome
from catalog.models import AgentType, CatalogEntry, Source, Status
from catalog.outbound.errors import FetchFailed
from catalog.registration.export import export_lines
from catalog.registration.service import import_url, refresh_entry, register
from tests import mcp_servers, servers
from tests.factories import card_bytes
from tests.mcp_servers import (
    INTERNAL_ERROR,
    TOOLS,
    answer_authorized_request,
    answer_legacy_request,
    answer_with_lists,
)
from tests.servers import reply

pytestmark = pytest.mark.django_db(transaction=True)


def serve_card(server, path="/.well-known/mcp.json", **members):
    """Serve a card, without tools, of the server at `/mcp`."""
    card = {
        "name": "vault",
        "version": "1.0",
        "remotes": [{"type": "streamable-http", "url": server.url("/mcp")}],
        "packages": [{"registryType": "npm", "identifier": "vault"}],
    }
    server.routes[path] = reply(body=json.dumps(card | members).encode())


def get_tool_names(entry):
    rows = entry.agent_type.capabilities.filter(kind="mcp.tool")
    return sorted(rows.values_list("name", flat=True))


@pytest.mark.parametrize("protocol", ["", "mcp"])
@pytest.mark.parametrize(
    "failure", [INTERNAL_ERROR, reply(500)], ids=["json-rpc-error", "500"]
)
def test_failed_list_becomes_a_warning_and_other_lists_are_read(
    server, protocol, failure
):
    server.routes["/mcp"] = answer_with_lists(tools=TOOLS, prompts=failure)
    outcome = import_url(server.url("/mcp"), protocol)

    assert get_tool_names(outcome.entry) == ["dig"]
    problem = outcome.entry.definition_problem
    assert problem.startswith("the server did not list its prompts (")
    assert outcome.warnings[0].message == problem


def test_refresh_keeps_capabilities_of_failed_list(server):
    server.routes["/mcp"] = answer_with_lists(tools=TOOLS, prompts={"prompts": []})
    entry = import_url(server.url("/mcp")).entry
    server.routes["/mcp"] = answer_with_lists(
        tools=INTERNAL_ERROR, prompts={"prompts": [{"name": "p"}]}
    )
    changes = refresh_entry(entry).changes

    assert changes.removed == []
    assert [item["name"] for item in changes.added] == ["p"]
    entry.refresh_from_db()
    assert "tools (Out of memory)" in entry.definition_problem


def test_invalid_tool_is_a_warning_with_path(server):
    tools = [{"name": "dig"}, {"name": "fill", "inputSchema": {}, "x-new": {"a": 1}}]
    server.routes["/mcp"] = answer_with_lists(tools={"tools": tools})
    outcome = import_url(server.url("/mcp"))

    assert get_tool_names(outcome.entry) == ["dig", "fill"]
    paths = [warning.path for warning in outcome.warnings]
    assert "$.tools[0].inputSchema" in paths
    assert json.loads(outcome.entry.agent_type.definition)["tools"] == tools


def test_interrupted_session_raises_error_that_names_mcp(server):
    server.routes["/mcp"] = answer_with_lists(tools=b"")

    with pytest.raises(
        FetchFailed, match="is an MCP server but ended the session early"
    ):
        import_url(server.url("/mcp"))


def test_import_of_server_that_never_responds_to_get_reads_tools(server, settings):
    """GET opens an event stream there, which stays empty."""
    settings.AGENTLENS_FIRST_URL_WAIT = 0.2
    route = answer_with_lists(tools=TOOLS)

    def answer_only_posts(request):
        if request.method != "POST":
            return servers.never_respond(request)
        return route(request)

    server.routes["/mcp"] = answer_only_posts

    assert get_tool_names(import_url(server.url("/mcp")).entry) == ["dig"]


@pytest.mark.parametrize("protocol", ["", "mcp"])
def test_import_of_running_server_creates_active_entry_with_tools(
    notebook_url, protocol
):
    entry = import_url(notebook_url, protocol).entry

    assert (entry.source, entry.status) == (Source.IMPORT, Status.ACTIVE)
    assert entry.source_url == notebook_url
    assert entry.rows.filter(kind="mcp.tool").count() == 1


@pytest.mark.parametrize("protocol", ["", "mcp"])
@pytest.mark.parametrize("path", ["/mcp", ""])
def test_import_without_authorization_reads_only_the_card(server, path, protocol):
    server.routes["/mcp"] = answer_authorized_request
    serve_card(server)
    outcome = import_url(server.url(path), protocol)

    problem = "the server requires authorization: only its card was read"
    assert (outcome.entry.display_name, get_tool_names(outcome.entry)) == ("vault", [])
    assert outcome.warnings[0].message == problem
    entry = CatalogEntry.objects.get()
    assert (entry.status, entry.definition_problem) == (Status.ACTIVE, problem)


@pytest.mark.parametrize("protocol", ["", "mcp"])
def test_import_with_authorization_completes_the_card(server, protocol):
    server.routes["/mcp"] = answer_authorized_request
    serve_card(server)
    entry = import_url(server.url(), protocol, "Bearer sesame").entry

    assert (get_tool_names(entry), entry.definition_problem) == (["dig"], "")
    document = json.loads(entry.agent_type.definition)
    assert document["packages"][0]["identifier"] == "vault"
    assert entry.source_url == server.url("/.well-known/mcp.json")


def test_import_without_authorization_keeps_tools_read_before(server):
    server.routes["/mcp"] = answer_authorized_request
    serve_card(server)
    import_url(server.url(), authorization="Bearer sesame")
    serve_card(server, title="The vault")
    outcome = import_url(server.url())

    assert outcome.entry.display_name == "The vault"
    assert get_tool_names(outcome.entry) == ["dig"]
    assert "requires authorization" in outcome.entry.definition_problem


def test_repeated_import_of_unchanged_server_returns_unchanged(server):
    server.routes["/mcp"] = answer_legacy_request
    serve_card(server)
    import_url(server.url())

    assert import_url(server.url()).outcome == IngestOutcome.UNCHANGED


def test_authorization_is_not_sent_to_other_host_named_by_card(server):
    with servers.run_server() as other:
        other.routes["/mcp"] = answer_authorized_request
        remotes = [{"type": "streamable-http", "url": other.url("/mcp")}]
        serve_card(server, remotes=remotes)
        outcome = import_url(server.url(), authorization="Bearer sesame")

    assert {request.headers["Authorization"] for request in other.requests} == {None}
    assert get_tool_names(outcome.entry) == []


def test_refresh_sends_authorization_to_server_and_card_of_same_host(server):
    server.routes["/mcp"] = answer_authorized_request
    serve_card(server)
    entry = import_url(server.url()).entry
    server.requests.clear()
    refresh_entry(entry, "Bearer sesame")

    authorized_paths = {
        request.path for request in server.requests if request.headers["Authorization"]
    }
    assert authorized_paths == {"/mcp", "/.well-known/mcp.json"}
    entry.refresh_from_db()
    assert get_tool_names(entry) == ["dig"]


def test_refresh_keeps_members_of_registered_card(server):
    """A registry entry has members that the server itself does not report."""
    server.routes["/mcp"] = answer_legacy_request
    card = {
        "name": "com.example/vault",
        "title": "The Vault",
        "description": "Keeps things",
        "version": "1.2.3",
        "websiteUrl": "https://vault.example",
        "packages": [{"registryType": "npm", "identifier": "vault"}],
        "url": server.url("/mcp"),
    }
    entry = register(json.dumps(card).encode()).entry
    for _ in range(2):
        refresh_entry(entry)
        entry.refresh_from_db()

    assert (entry.display_name, entry.agent_type.version) == ("The Vault", "1.2.3")
    assert get_tool_names(entry) == ["dig"]
    definition = json.loads(entry.agent_type.definition)
    assert {key: definition[key] for key in card} == card


def test_registering_card_again_keeps_introspected_tools(server):
    server.routes["/mcp"] = answer_legacy_request
    card = {"name": "com.example/vault", "description": "Vault", "version": "1.0.0"}
    card["url"] = server.url("/mcp")
    entry = register(json.dumps(card).encode()).entry
    refresh_entry(entry)

    assert register(json.dumps(card).encode()).outcome == "unchanged"
    changed_card = card | {"description": "Keeps things"}
    registered = register(json.dumps(changed_card).encode())
    assert (registered.outcome, registered.changes.removed) == ("updated", [])
    assert registered.entry.description == "Keeps things"
    assert get_tool_names(registered.entry) == ["dig"]


def test_registered_card_with_tools_replaces_introspected_tools(server):
    server.routes["/mcp"] = answer_legacy_request
    entry = import_url(server.url("/mcp"), "mcp").entry
    definition = json.loads(entry.agent_type.definition)
    definition["tools"] = [{"name": "fill", "inputSchema": {"type": "object"}}]
    register(json.dumps(definition).encode())

    entry.refresh_from_db()
    assert get_tool_names(entry) == ["fill"]


def test_import_prefers_running_server_to_card_of_other_server(server):
    """The card at the root of a host may be that of another server."""
    server.routes["/other"] = answer_legacy_request
    serve_card(server)
    entry = import_url(server.url("/other")).entry

    assert entry.agent_type.endpoint == server.url("/other")


def test_import_of_stateless_server_that_keeps_get_open_reads_tools():
    with mcp_servers.run_app(mcp_servers.stateless_notebook_app()) as base_url:
        entry = import_url(f"{base_url}/mcp").entry

    assert get_tool_names(entry) == ["add_note"]


def test_authorization_is_never_stored(server):
    server.routes["/mcp"] = answer_authorized_request
    serve_card(server)
    entry = import_url(server.url(), authorization="Bearer sesame").entry
    rows = [*CatalogEntry.objects.values(), *AgentType.objects.values()]
    rows += entry.agent_type.capabilities.values()

    assert "sesame" not in str(rows)
    assert "sesame" not in "".join(export_lines())


def test_import_of_agent_card_sends_no_introspection_request(server):
    server.routes["/.well-known/agent-card.json"] = reply(body=card_bytes())
    import_url(server.url())

    assert {request.method for request in server.requests} == {"GET"}

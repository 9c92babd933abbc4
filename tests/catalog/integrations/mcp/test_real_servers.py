"""Importing and probing real servers, including slow and hostile ones."""

import asyncio
import json
import time
from contextlib import contextmanager

import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from django.utils import timezone
from mcp import types
from mcp.server.lowlevel import Server

from catalog import search
from catalog.health.scheduler import Prober
from catalog.models import CatalogEntry, Source, Status
from catalog.registration.service import import_url, probe_now, register
from tests import a2a_servers, mcp_servers, servers
from tests.factories import UserFactory, card_bytes
from tests.mcp_servers import answer_legacy_request
from tests.registered_agents import mcp_definition
from tests.servers import redirect, reply

pytestmark = pytest.mark.django_db(transaction=True)

CARD_PATH, OLDER_CARD_PATH = "/.well-known/agent-card.json", "/.well-known/agent.json"
OBJECT = {"type": "object"}
STAYS_ACTIVE = [Status.ACTIVE] * 3
GOES_OFFLINE = [Status.DEGRADED, Status.DEGRADED, Status.OFFLINE]


def paginate(result, member, items):
    """Return a list handler with one item per page."""

    async def list_items(context, params):
        page = int(params.cursor or 0) if params else 0
        next_cursor = str(page + 1) if page + 1 < len(items) else None
        return result(**{member: items[page : page + 1], "next_cursor": next_cursor})

    return list_items


def library_app():
    """Return an MCP app with all kinds of capabilities, on pages."""
    tools = [types.Tool(name=f"tool{n}", input_schema=OBJECT) for n in range(3)]
    resources = [types.Resource(name=f"book{n}", uri=f"book://{n}") for n in range(2)]
    templates = [
        types.ResourceTemplate(name=f"shelf{n}", uri_template=f"shelf{n}://{{book}}")
        for n in range(2)
    ]
    prompts = [types.Prompt(name=f"prompt{n}") for n in range(2)]
    server = Server(
        "library",
        version="1.0.0",
        on_list_tools=paginate(types.ListToolsResult, "tools", tools),
        on_list_resources=paginate(types.ListResourcesResult, "resources", resources),
        on_list_resource_templates=paginate(
            types.ListResourceTemplatesResult, "resource_templates", templates
        ),
        on_list_prompts=paginate(types.ListPromptsResult, "prompts", prompts),
    )
    return server.streamable_http_app(streamable_http_path="/mcp")


@contextmanager
def run_mcp_app(application):
    with mcp_servers.run_app(application) as base_url:
        yield f"{base_url}/mcp"


@contextmanager
def run_legacy_server():
    with servers.run_server() as server:
        server.routes["/mcp"] = answer_legacy_request
        yield server.url("/mcp")


NOTEBOOK_CAPABILITIES = {
    "mcp.tool": ["add_note"],
    "mcp.resource": ["note", "notes"],
    "mcp.prompt": ["summarize"],
}
LIBRARY_CAPABILITIES = {
    "mcp.tool": ["tool0", "tool1", "tool2"],
    "mcp.resource": ["book0", "book1", "shelf0", "shelf1"],
    "mcp.prompt": ["prompt0", "prompt1"],
}
AGENTS = {
    "notebook": (
        lambda: run_mcp_app(mcp_servers.notebook_app()),
        "Notebook",
        NOTEBOOK_CAPABILITIES,
    ),
    "library": (lambda: run_mcp_app(library_app()), "library", LIBRARY_CAPABILITIES),
    "paginated": (
        lambda: run_mcp_app(mcp_servers.paginated_app()),
        "paged",
        {"mcp.tool": [f"tool_{n}" for n in range(5)]},
    ),
    "stateless": (
        lambda: run_mcp_app(mcp_servers.stateless_notebook_app()),
        "Notebook",
        NOTEBOOK_CAPABILITIES,
    ),
    "sse": (
        lambda: run_mcp_app(mcp_servers.sse_notebook_app()),
        "Notebook",
        NOTEBOOK_CAPABILITIES,
    ),
    "legacy": (run_legacy_server, "legacy", {"mcp.tool": ["dig"]}),
    "echo-agent": (
        a2a_servers.run_echo_agent,
        "Parrot",
        {"a2a.skill": ["Echo", "Shout"]},
    ),
}


def search_names_by_kind():
    """Return the names of all capabilities that a search finds, by kind."""
    items = search.search_capabilities(search.SearchQuery(), 50).items
    kinds = sorted({item["kind"] for item in items})
    return {
        kind: sorted(item["name"] for item in items if item["kind"] == kind)
        for kind in kinds
    }


@pytest.mark.parametrize(
    ("run_agent", "name", "capabilities"), AGENTS.values(), ids=AGENTS
)
def test_imported_agent_is_active_with_all_capabilities(run_agent, name, capabilities):
    with run_agent() as url:
        entry = import_url(url).entry

    assert (entry.display_name, entry.status) == (name, Status.ACTIVE)
    assert entry.source == Source.IMPORT
    assert search_names_by_kind() == dict(sorted(capabilities.items()))


def test_stored_card_works_with_the_sdk_client():
    with a2a_servers.run_echo_agent() as url:
        card = import_url(url).entry.agent_type.definition
        texts = asyncio.run(a2a_servers.send_message(card, "Good morning"))

    assert texts == ["Good morning"]


@pytest.mark.parametrize("name", AGENTS)
def test_stopped_agent_goes_offline_after_three_probes(name):
    with AGENTS[name][0]() as url:
        entry = import_url(url).entry

    assert probe_three_times(entry) == GOES_OFFLINE
    assert entry.last_error == "The connection was refused or the host is unreachable"
    assert search_names_by_kind() == {}


def send_slow_head(request):
    """Send a header line every 50 ms, but never the last one."""
    yield b"HTTP/1.1 200 OK\r\n"
    for n in range(100):
        time.sleep(0.05)
        yield f"x-header-{n}: value\r\n".encode()


def register_agent_at(server, protocol):
    """Register an agent whose endpoint is on the server."""
    if protocol == "a2a":
        return register(card_bytes(url=server.url("/a2a"))).entry
    document = mcp_definition("Stacks", "search", url=server.url("/mcp"))
    return register(json.dumps(document).encode()).entry


def probe_three_times(entry):
    """Return the status after each of three probes."""
    statuses = []
    for _ in range(3):
        probe_now(entry)
        statuses.append(entry.status)
    return statuses


def serve_everywhere(server, route):
    server.routes = dict.fromkeys((CARD_PATH, OLDER_CARD_PATH, "/mcp"), route)


NOT_PUBLIC_ERROR = (
    "127.0.0.2 is not a public host; an administrator can allow its network in"
    " AGENTLENS_ALLOWED_NETWORKS"
)
PRIVATE_REDIRECT = redirect("http://127.0.0.2:1/")
RESPONSES = {
    "200": (reply(body=card_bytes(jsonrpc="2.0", result={})), STAYS_ACTIVE, ""),
    "empty": (reply(), GOES_OFFLINE, "Answered 200 with an empty body"),
    "401": (reply(401), STAYS_ACTIVE, ""),
    "405": (reply(405), STAYS_ACTIVE, ""),
    "404": (reply(404), GOES_OFFLINE, "HTTP 404"),
    "500": (reply(500), GOES_OFFLINE, "HTTP 500"),
    "private": (
        PRIVATE_REDIRECT,
        GOES_OFFLINE,
        NOT_PUBLIC_ERROR,
    ),
    "not-http": (
        b"Good morning\r\n\r\n",
        GOES_OFFLINE,
        "The response is not valid HTTP",
    ),
}
SLOW_RESPONSES = {
    "no-response": servers.never_respond,
    "slow-head": send_slow_head,
    "slow-body": servers.send_slow_body,
    "incomplete-body": servers.send_partial_body,
}


@pytest.mark.parametrize("protocol", ["a2a", "mcp"])
@pytest.mark.parametrize("response", RESPONSES.values(), ids=RESPONSES)
def test_probe_response_determines_status(server, protocol, response):
    route, statuses, error = response
    serve_everywhere(server, route)
    entry = register_agent_at(server, protocol)

    assert entry.status == Status.UNKNOWN
    assert probe_three_times(entry) == statuses
    assert entry.last_error == error


@pytest.mark.parametrize("protocol", ["a2a", "mcp"])
@pytest.mark.parametrize("route", SLOW_RESPONSES.values(), ids=SLOW_RESPONSES)
def test_probe_times_out_without_complete_response(server, settings, protocol, route):
    settings.AGENTLENS_PROBE_TIMEOUT = 0.3
    serve_everywhere(server, route)
    entry = register_agent_at(server, protocol)

    assert probe_three_times(entry) == GOES_OFFLINE
    assert entry.last_error == "Timed out after 0.3 s"


def test_restarted_server_becomes_active_on_page_and_in_search():
    client = Client()
    client.force_login(UserFactory(role="Viewer"))
    results = []

    def probe_and_read(entry):
        probe_now(entry)
        page = client.get("/catalog").content.decode()
        assert f'class="badge status {entry.status}"' in page
        results.append(
            (entry.status, search.search_capabilities(search.SearchQuery(), 10).total)
        )

    with servers.run_server() as server:
        serve_everywhere(server, reply(body=card_bytes(url=server.url("/a2a"))))
        entry = import_url(server.url()).entry
        probe_and_read(entry)
    for _ in range(3):
        probe_and_read(entry)
    with servers.run_server(port=server.port) as restarted:
        restarted.routes = server.routes
        probe_and_read(entry)

    assert results == [
        (Status.ACTIVE, 1),
        (Status.DEGRADED, 1),
        (Status.DEGRADED, 1),
        (Status.OFFLINE, 0),
        (Status.ACTIVE, 1),
    ]


@pytest.mark.parametrize("status", [200, 500])
def test_deprecated_agent_is_never_probed(server, status):
    entry = register_agent_at(server, "a2a")
    entries = CatalogEntry.objects.filter(pk=entry.pk)
    entries.update(status=Status.DEPRECATED, next_probe_at=timezone.now())
    before = entries.values().get()
    serve_everywhere(server, reply(status))
    entry.refresh_from_db()

    assert async_to_sync(Prober().probe_all_due)() == 0
    assert probe_now(entry) is None
    assert server.requests == []
    assert entries.values().get() == before

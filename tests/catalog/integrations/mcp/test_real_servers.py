"""How agents are found to be, told by real servers: kind ones, slow ones, sly ones."""

import asyncio
import ipaddress
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
from tests.published import mcp_definition
from tests.servers import redirect, reply

pytestmark = pytest.mark.django_db(transaction=True)

CARD, OLDER_CARD = "/.well-known/agent-card.json", "/.well-known/agent.json"
OBJECT = {"type": "object"}
WELL = [Status.ACTIVE] * 3
GOING = [Status.DEGRADED, Status.DEGRADED, Status.OFFLINE]


@pytest.fixture(autouse=True)
def _only_one_private_address_is_allowed(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = [ipaddress.ip_network("127.0.0.1/32")]


@pytest.fixture
def server():
    with servers.run_server() as server:
        yield server


def paging(result, member, items):
    """Answers a list request with one item at a time."""

    async def answer(context, params):
        page = int(params.cursor or 0) if params else 0
        following = str(page + 1) if page + 1 < len(items) else None
        return result(**{member: items[page : page + 1], "next_cursor": following})

    return answer


def library():
    """Everything MCP can offer, and all of it on pages."""
    tools = [types.Tool(name=f"tool{n}", input_schema=OBJECT) for n in range(3)]
    books = [types.Resource(name=f"book{n}", uri=f"book://{n}") for n in range(2)]
    shelves = [
        types.ResourceTemplate(name=f"shelf{n}", uri_template=f"shelf{n}://{{book}}")
        for n in range(2)
    ]
    prompts = [types.Prompt(name=f"prompt{n}") for n in range(2)]
    server = Server(
        "library",
        version="1.0.0",
        on_list_tools=paging(types.ListToolsResult, "tools", tools),
        on_list_resources=paging(types.ListResourcesResult, "resources", books),
        on_list_resource_templates=paging(
            types.ListResourceTemplatesResult, "resource_templates", shelves
        ),
        on_list_prompts=paging(types.ListPromptsResult, "prompts", prompts),
    )
    return server.streamable_http_app(streamable_http_path="/mcp")


@contextmanager
def mcp_at(application):
    with mcp_servers.run_app(application) as address:
        yield f"{address}/mcp"


@contextmanager
def of_an_older_revision():
    with servers.run_server() as server:
        server.routes["/mcp"] = answer_legacy_request
        yield server.url("/mcp")


NOTEBOOK = {
    "mcp.tool": ["add_note"],
    "mcp.resource": ["note", "notes"],
    "mcp.prompt": ["summarise"],
}
LIBRARY = {
    "mcp.tool": ["tool0", "tool1", "tool2"],
    "mcp.resource": ["book0", "book1", "shelf0", "shelf1"],
    "mcp.prompt": ["prompt0", "prompt1"],
}
PUBLISHED = {
    "notebook": (lambda: mcp_at(mcp_servers.notebook_app()), "Notebook", NOTEBOOK),
    "library": (lambda: mcp_at(library()), "library", LIBRARY),
    "paged": (
        lambda: mcp_at(mcp_servers.paginated_app()),
        "paged",
        {"mcp.tool": [f"tool_{n}" for n in range(5)]},
    ),
    "stateless": (
        lambda: mcp_at(mcp_servers.stateless_notebook_app()),
        "Notebook",
        NOTEBOOK,
    ),
    "2024": (lambda: mcp_at(mcp_servers.sse_notebook_app()), "Notebook", NOTEBOOK),
    "legacy": (of_an_older_revision, "legacy", {"mcp.tool": ["dig"]}),
    "parrot": (a2a_servers.run_echo_agent, "Parrot", {"a2a.skill": ["Echo", "Shout"]}),
}


def offered():
    """What people find by searching, by kind."""
    found = search.search_capabilities(search.SearchQuery(), 50).items
    kinds = sorted({item["kind"] for item in found})
    return {
        kind: sorted(item["name"] for item in found if item["kind"] == kind)
        for kind in kinds
    }


@pytest.mark.parametrize(
    ("served", "name", "offers"), PUBLISHED.values(), ids=PUBLISHED
)
def test_an_agent_imported_while_it_runs_is_active_with_all_it_offers(
    served, name, offers
):
    with served() as url:
        entry = import_url(url).entry

    assert (entry.display_name, entry.status) == (name, Status.ACTIVE)
    assert entry.source == Source.IMPORT
    assert offered() == dict(sorted(offers.items()))


def test_the_card_we_keep_leads_the_protocols_own_client_to_the_agent():
    with a2a_servers.run_echo_agent() as url:
        card = import_url(url).entry.agent_type.definition
        heard = asyncio.run(a2a_servers.send_message(card, "Good morning"))

    assert heard == ["Good morning"]


@pytest.mark.parametrize("name", PUBLISHED)
def test_an_agent_that_left_after_its_import_goes_offline_in_three_steps(name):
    with PUBLISHED[name][0]() as url:
        entry = import_url(url).entry

    assert fate(entry) == GOING
    assert entry.last_error == "Connection refused or unreachable"
    assert offered() == {}


def dripping_head(request):
    """A header line now and then, and never the last."""
    yield b"HTTP/1.1 200 So\r\n"
    for n in range(100):
        time.sleep(0.05)
        yield f"x-drip-{n}: drip\r\n".encode()


def registered(server, protocol):
    """An agent at the server's address, handed to us by somebody."""
    if protocol == "a2a":
        return register(card_bytes(url=server.url("/a2a"))).entry
    document = mcp_definition("Stacks", "search", url=server.url("/mcp"))
    return register(json.dumps(document).encode()).entry


def fate(entry):
    """How it is after each of three probes."""
    states = []
    for _ in range(3):
        probe_now(entry)
        states.append(entry.status)
    return states


def answering_all(server, route):
    server.routes = dict.fromkeys((CARD, OLDER_CARD, "/mcp"), route)


ELSEWHERE = redirect("http://127.0.0.2:1/")
ANSWERS = {
    "200": (reply(), WELL, ""),
    "401": (reply(401), WELL, ""),
    "405": (reply(405), WELL, ""),
    "404": (reply(404), GOING, "HTTP 404"),
    "500": (reply(500), GOING, "HTTP 500"),
    "private": (ELSEWHERE, GOING, "127.0.0.2 is not at a public address"),
    "no-http": (b"Good morning\r\n\r\n", GOING, "The response is not valid HTTP"),
}
NOT_YET = {"hangs": servers.never_respond, "drips-its-head": dripping_head}
HARDLY = {"drips-its-body": servers.send_slow_body, "promises-much": servers.send_partial_body}


@pytest.mark.parametrize("protocol", ["a2a", "mcp"])
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_three_answers_tell_how_an_agent_is(server, protocol, answer):
    route, states, error = answer
    answering_all(server, route)
    entry = registered(server, protocol)

    assert entry.status == Status.UNKNOWN
    assert fate(entry) == states
    assert entry.last_error == error


@pytest.mark.parametrize("protocol", ["a2a", "mcp"])
@pytest.mark.parametrize("route", NOT_YET.values(), ids=NOT_YET)
def test_who_has_not_begun_to_answer_in_time_is_going(
    server, settings, protocol, route
):
    settings.AGENTLENS_PROBE_TIMEOUT = 0.3
    answering_all(server, route)
    entry = registered(server, protocol)

    assert fate(entry) == GOING
    assert entry.last_error == "Timed out after 0.3 s"


@pytest.mark.parametrize("protocol", ["a2a", "mcp"])
@pytest.mark.parametrize("route", HARDLY.values(), ids=HARDLY)
def test_who_has_said_200_lives_however_long_the_rest_may_take(server, protocol, route):
    answering_all(server, route)
    entry = registered(server, protocol)

    assert fate(entry) == WELL


def test_a_server_that_goes_away_and_comes_back_is_followed_everywhere():
    browser = Client()
    browser.force_login(UserFactory(role="Viewer"))
    seen = []

    def look(entry):
        probe_now(entry)
        page = browser.get("/catalog").content.decode()
        assert f'class="badge status {entry.status}"' in page
        seen.append(
            (entry.status, search.search_capabilities(search.SearchQuery(), 10).total)
        )

    with servers.run_server() as server:
        answering_all(server, reply(body=card_bytes(url=server.url("/a2a"))))
        entry = import_url(server.url()).entry
        look(entry)
    for _ in range(3):
        look(entry)
    with servers.run_server(port=server.port) as again:
        again.routes = server.routes
        look(entry)

    assert seen == [
        (Status.ACTIVE, 1),
        (Status.DEGRADED, 1),
        (Status.DEGRADED, 1),
        (Status.OFFLINE, 0),
        (Status.ACTIVE, 1),
    ]


@pytest.mark.parametrize("status", [200, 500])
def test_a_deprecated_agent_is_never_asked_and_never_changes(server, status):
    entry = registered(server, "a2a")
    entries = CatalogEntry.objects.filter(pk=entry.pk)
    entries.update(status=Status.DEPRECATED, next_probe_at=timezone.now())
    before = entries.values().get()
    answering_all(server, reply(status))
    entry.refresh_from_db()

    assert async_to_sync(Prober().probe_all_due)() == 0
    assert probe_now(entry) is None
    assert server.requests == []
    assert entries.values().get() == before

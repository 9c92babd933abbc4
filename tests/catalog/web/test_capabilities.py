import re
from dataclasses import replace
from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from capabilities.kinds import discoverable_kinds, kinds
from catalog.models import Capability, Status
from catalog.search import rebuild_index
from tests.factories import CatalogEntryFactory, skill
from tests.registered_agents import agent_card, mcp_definition, register_agent

pytestmark = pytest.mark.django_db

CAPABILITIES_URL = "/catalog/capabilities"
CONTINUED_NOTE = "continued from previous page"


def group_names(response):
    assert response.status_code == 200
    return [group.name for group in response.context["groups"]]


@pytest.fixture
def registered_agents():
    register_agent(
        agent_card("Polyglot", "Translate text", skill("Proofread", tags=["Grammar"]))
    )
    register_agent(agent_card("Sleeper", "Translate text"), Status.OFFLINE)
    register_agent(agent_card("Elder", "Shorthand"), Status.DEPRECATED)
    register_agent(mcp_definition("Stacks", "search_documents"))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["Proofread", "search_documents", "Translate text"]),
        ("q=TRANSLATE", ["Translate text"]),
        ("q=grammar", ["Proofread"]),
        ("q=quickly", ["Proofread", "Translate text"]),
        ("q=shorthand", []),
        ("kind=mcp.tool", ["search_documents"]),
        ("sort=agentName_asc", ["Proofread", "Translate text", "search_documents"]),
    ],
)
def test_search_finds_capabilities_of_reachable_agents(
    viewer_client, registered_agents, query, expected
):
    assert group_names(viewer_client.get(f"{CAPABILITIES_URL}?{query}")) == expected


@pytest.mark.parametrize(
    "query",
    [
        "page=abc",
        "page=0",
        "page=-1",
        "shown=-1",
        "shown=x&page=",
        "kind=nope",
        "kind=a2a.interface",
        "sort=nope",
        "q=%00",
        "q=" + "x" * 1001,
        "utm_source=letter",
    ],
)
def test_capabilities_page_ignores_invalid_parameters(
    viewer_client, registered_agents, query
):
    assert len(group_names(viewer_client.get(f"{CAPABILITIES_URL}?{query}"))) == 3


def test_page_number_beyond_last_page_shows_last_page(viewer_client):
    register_agent(agent_card("Able", *(f"Task {n:02}" for n in range(51))))
    last_page = viewer_client.get(f"{CAPABILITIES_URL}?page=999999999&shown=100")
    empty_page = viewer_client.get(f"{CAPABILITIES_URL}?page=9&q=nothing+like+it")

    assert group_names(last_page) == ["Task 50"]
    assert group_names(empty_page) == []


def test_kind_counts_depend_on_search_but_not_on_selected_kind(
    viewer_client, registered_agents
):
    response = viewer_client.get(f"{CAPABILITIES_URL}?q=text&kind=mcp.tool")

    counts = {kind["label"]: kind["count"] for kind in response.context["kinds"]}
    assert counts["A2A Skill"] == sum(counts.values()) == 1
    assert len(counts) == len(discoverable_kinds())
    assert response.context["kind_total"] == 1


def test_technical_kinds_are_neither_found_nor_offered_as_filter(
    viewer_client, registered_agents
):
    response = viewer_client.get(f"{CAPABILITIES_URL}?q=streaming")

    assert group_names(response) == []
    assert "A2A Interface" not in response.content.decode()


def test_search_without_results_offers_to_clear_filters(
    viewer_client, registered_agents
):
    html = viewer_client.get(f"{CAPABILITIES_URL}?q=cook").content.decode()

    assert "No capabilities found" in html
    assert f'href="{CAPABILITIES_URL}">Clear filters' in html


def test_list_without_capabilities_shows_message(viewer_client):
    html = viewer_client.get(CAPABILITIES_URL).content.decode()

    assert "No capabilities published yet" in html
    assert "Clear filters" not in html


def test_detail_lists_agents_with_their_descriptions_in_any_status(
    viewer_client, registered_agents
):
    register_agent(
        agent_card("Babel", skill("Translate text", description="Into one tongue"))
    )
    response = viewer_client.get(f"{CAPABILITIES_URL}/a2a.skill::Translate%20text")

    descriptions = [
        (capability.agent_type.entry.display_name, capability.description)
        for capability in response.context["capabilities"]
    ]
    assert descriptions == [
        ("Babel", "Into one tongue"),
        ("Polyglot", "Translate text quickly"),
        ("Sleeper", "Translate text quickly"),
    ]
    html = response.content.decode()
    assert "3 agents (all statuses)" in html
    assert "Offline" in html


@pytest.mark.parametrize(
    "key",
    [
        "a2a.skill::Cook",
        "a2a.skill::translate text",
        "mcp.tool::Translate text",
        "a2a.interface::JSONRPC",
        "agent.feature::transport.streaming",
        "nope::Translate text",
        "Translate text",
        "::",
        "a2a.skill::",
    ],
)
def test_page_of_capability_that_no_agent_offers_returns_404(
    viewer_client, registered_agents, key
):
    response = viewer_client.get(f"{CAPABILITIES_URL}/{key}")

    assert response.status_code == 404
    assert "No agent offers" in response.content.decode()


@pytest.mark.parametrize(
    "name",
    [
        "a/b c",
        "x::y",
        "100%",
        "%2F",
        "ä/ö?#",
        "..",
        "../x",
        "שלום",
        "🦜",
        "a\nb",
        "n" * 300,
    ],
)
def test_link_leads_to_capability_with_any_name(viewer_client, name):
    register_agent(agent_card("Able", skill(name, id="s")))
    html = viewer_client.get(CAPABILITIES_URL).content.decode()
    [link] = re.findall(rf'href="({CAPABILITIES_URL}/[^"]+)"', html)
    response = viewer_client.get(link)

    assert response.status_code == 200
    assert response.context["name"] == name


def test_group_split_between_pages_is_marked_as_continued(viewer_client):
    register_agent(agent_card("Able", *(f"Task {n:02}" for n in range(49))))
    for n in range(3):
        register_agent(agent_card(f"Baker {n}", "Task 49"))
    first = viewer_client.get(f"{CAPABILITIES_URL}?page=1")
    second = viewer_client.get(f"{CAPABILITIES_URL}?page=2")
    both = viewer_client.get(f"{CAPABILITIES_URL}?shown=100")

    assert len(first.context["groups"][-1].rows) == 1
    assert CONTINUED_NOTE not in first.content.decode()
    [group] = second.context["groups"]
    assert (group.name, len(group.rows), group.is_continued) == ("Task 49", 2, True)
    assert CONTINUED_NOTE in second.content.decode()
    assert len(both.context["groups"][-1].rows) == 3
    assert CONTINUED_NOTE not in both.content.decode()


def build_shared_capabilities(name, agent_count):
    """Create agents with one capability of the same name each, and index them."""
    entries = CatalogEntryFactory.create_batch(agent_count, status=Status.ACTIVE)
    Capability.objects.bulk_create(
        Capability(agent_type=entry.agent_type, kind="a2a.skill", name=name)
        for entry in entries
    )
    list(rebuild_index())


def get_agent_counts(client, query=""):
    """Return the counts in the headers of the groups, by name."""
    html = client.get(f"{CAPABILITIES_URL}?{query}").content.decode()
    names = re.findall(r'class="group-name"[^>]*>([^<]*)<', html)
    counts = re.findall(r'<span class="count">([^<]*)</span>', html)
    return dict(zip(names, counts, strict=True))


def test_header_of_cut_group_shows_total_t18(viewer_client):
    build_shared_capabilities("Alpha", 1)
    build_shared_capabilities("Search", 1_120)
    build_shared_capabilities("Zulu", 2)

    assert get_agent_counts(viewer_client) == {
        "Alpha": "1 agent",
        "Search": "49 of 1,120 agents",
    }
    assert get_agent_counts(viewer_client, "page=2") == {"Search": "50 of 1,120 agents"}
    assert get_agent_counts(viewer_client, "page=23") == {
        "Search": "21 of 1,120 agents",
        "Zulu": "2 agents",
    }
    assert get_agent_counts(viewer_client, "q=search&page=2") == {
        "Search": "50 of 1,120 agents"
    }


def test_headers_of_names_that_differ_in_case_show_their_totals(viewer_client):
    build_shared_capabilities("Search", 40)
    build_shared_capabilities("search", 30)
    first, second = (get_agent_counts(viewer_client, f"page={n}") for n in (1, 2))

    for name, total in (("Search", 40), ("search", 30)):
        shown = [
            counts[name].split()[0] for counts in (first, second) if name in counts
        ]
        assert sum(map(int, shown)) == total
        texts = [counts[name] for counts in (first, second) if name in counts]
        assert len(texts) == 1 or all(f"of {total} agents" in text for text in texts)


def test_headers_of_list_sorted_by_agent_count_agents_on_the_page(viewer_client):
    build_shared_capabilities("Search", 60)
    counts = get_agent_counts(viewer_client, "sort=agentName_asc")

    assert counts == {"Search": "50 agents on this page"}


def test_query_count_is_independent_of_cut_groups(viewer_client):
    def count_queries(query):
        with CaptureQueriesContext(connection) as queries:
            viewer_client.get(f"{CAPABILITIES_URL}?{query}")
        return len(queries)

    build_shared_capabilities("Alpha", 60)
    uncut = count_queries("shown=100")
    build_shared_capabilities("Beta", 60)

    assert count_queries("page=1") == count_queries("page=3") == uncut + 1
    assert count_queries("page=2") == uncut + 2


def test_kind_that_becomes_discoverable_is_found_without_reindexing(
    viewer_client, registered_agents
):
    discoverable_kind = replace(kinds.get("a2a.interface"), discoverable=True)
    name = "https://polyglot.example.com/a2a"
    assert name not in group_names(viewer_client.get(CAPABILITIES_URL))

    with kinds.temporarily(discoverable_kind):
        page = viewer_client.get(CAPABILITIES_URL)
        assert name in group_names(page)
        counts = {kind["label"]: kind["count"] for kind in page.context["kinds"]}
        assert counts["A2A Interface"] == 1
        filtered = viewer_client.get(f"{CAPABILITIES_URL}?kind=a2a.interface")
        assert group_names(filtered) == [name]
        key = quote(f"a2a.interface::{name}", safe="")
        detail = viewer_client.get(f"{CAPABILITIES_URL}/{key}")
        assert "Polyglot" in detail.content.decode()

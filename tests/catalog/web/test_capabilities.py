import re
from dataclasses import replace
from urllib.parse import quote

import pytest

from capabilities.kinds import discoverable_kinds, kinds
from catalog.models import Status
from tests.factories import skill
from tests.published import agent, publish, tool_server

pytestmark = pytest.mark.django_db

INDEX = "/catalog/capabilities"


def names(answer):
    assert answer.status_code == 200
    return [group.name for group in answer.context["groups"]]


@pytest.fixture
def catalog():
    publish(agent("Polyglot", "Translate text", skill("Proofread", tags=["Grammar"])))
    publish(agent("Sleeper", "Translate text"), Status.OFFLINE)
    publish(agent("Elder", "Shorthand"), Status.DEPRECATED)
    publish(tool_server("Stacks", "search_documents"))


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("", ["Proofread", "search_documents", "Translate text"]),
        ("q=TRANSLATE", ["Translate text"]),
        ("q=grammar", ["Proofread"]),
        ("q=and+well", ["Proofread", "Translate text"]),
        ("q=shorthand", []),
        ("kind=mcp.tool", ["search_documents"]),
        ("sort=agentName_asc", ["Proofread", "Translate text", "search_documents"]),
    ],
)
def test_it_finds_what_reachable_agents_offer(reader, catalog, asked, found):
    assert names(reader.get(f"{INDEX}?{asked}")) == found


@pytest.mark.parametrize(
    "asked",
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
def test_it_forgives_what_makes_no_sense(reader, catalog, asked):
    assert len(names(reader.get(f"{INDEX}?{asked}"))) == 3


def test_a_page_beyond_the_last_is_the_last(reader):
    publish(agent("Able", *(f"Task {n:02}" for n in range(51))))

    assert names(reader.get(f"{INDEX}?page=999999999&shown=100")) == ["Task 50"]
    assert names(reader.get(f"{INDEX}?page=9&q=nothing+like+it")) == []


def test_the_kinds_are_counted_for_the_search_and_not_for_the_kind(reader, catalog):
    answer = reader.get(f"{INDEX}?q=text&kind=mcp.tool")

    counts = {kind["label"]: kind["count"] for kind in answer.context["kinds"]}
    assert counts["A2A Skill"] == sum(counts.values()) == 1
    assert len(counts) == len(discoverable_kinds())
    assert answer.context["all_kinds"] == 1


def test_technical_kinds_are_neither_found_nor_offered(reader, catalog):
    page = reader.get(f"{INDEX}?q=streaming")

    assert names(page) == []
    assert "A2A Interface" not in page.content.decode()


def test_nothing_published_and_nothing_found_are_told_apart(reader, catalog):
    found = reader.get(f"{INDEX}?q=cook").content.decode()
    assert "No capabilities found" in found
    assert f'href="{INDEX}">Clear filters' in found


def test_nothing_published_is_told_in_words(reader):
    page = reader.get(INDEX).content.decode()

    assert "No capabilities published yet" in page
    assert "Clear filters" not in page


def test_a_capability_is_told_by_everyone_who_offers_it(reader, catalog):
    publish(agent("Babel", skill("Translate text", description="Into one tongue")))
    answer = reader.get(f"{INDEX}/a2a.skill::Translate%20text")

    told = [
        (o.agent_type.entry.display_name, o.description)
        for o in answer.context["offers"]
    ]
    assert told == [
        ("Babel", "Into one tongue"),
        ("Polyglot", "Translate text, and well"),
        ("Sleeper", "Translate text, and well"),
    ]
    page = answer.content.decode()
    assert "3 agents, whatever their status" in page
    assert "Offline" in page


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
def test_what_nobody_offers_is_not_found_in_words(reader, catalog, key):
    answer = reader.get(f"{INDEX}/{key}")

    assert answer.status_code == 404
    assert "No agent offers" in answer.content.decode()


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
def test_a_link_to_a_capability_leads_to_it(reader, name):
    publish(agent("Able", skill(name, id="s")))
    [link] = re.findall(rf'href="({INDEX}/[^"]+)"', reader.get(INDEX).content.decode())
    answer = reader.get(link)

    assert answer.status_code == 200
    assert answer.context["name"] == name


def test_pages_of_a_split_group_say_where_it_began(reader):
    publish(agent("Able", *(f"Task {n:02}" for n in range(49))))
    for n in range(3):
        publish(agent(f"Baker {n}", "Task 49"))
    first, second = (reader.get(f"{INDEX}?page={n}") for n in (1, 2))
    whole = reader.get(f"{INDEX}?shown=100")

    assert len(first.context["groups"][-1].offers) == 1
    assert "continued from previous page" not in first.content.decode()
    [group] = second.context["groups"]
    assert (group.name, len(group.offers), group.continued) == ("Task 49", 2, True)
    assert "continued from previous page" in second.content.decode()
    assert len(whole.context["groups"][-1].offers) == 3
    assert "continued from previous page" not in whole.content.decode()


def test_a_technical_kind_made_discoverable_is_there_without_reindexing(
    reader, catalog
):
    shown = replace(kinds.get("a2a.interface"), discoverable=True)
    address = "https://polyglot.example.com/a2a"
    assert address not in names(reader.get(INDEX))

    with kinds.temporarily(shown):
        page = reader.get(INDEX)
        assert address in names(page)
        labels = {choice["label"]: choice["count"] for choice in page.context["kinds"]}
        assert labels["A2A Interface"] == 1
        assert names(reader.get(f"{INDEX}?kind=a2a.interface")) == [address]
        detail = reader.get(f"{INDEX}/{quote(f'a2a.interface::{address}', safe='')}")
        assert "Polyglot" in detail.content.decode()

"""Whatever is catalogued, edited and asked: the read model answers as a plain scan."""

import json
from contextlib import ExitStack
from dataclasses import replace
from unittest import mock

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capabilities.kinds import kinds
from catalog import search
from catalog.ingestion.curation import curate
from catalog.models import CatalogEntry, SearchRow, Status
from catalog.registration.service import register
from catalog.search import SearchQuery
from tests.catalog.search import reference
from tests.factories import UserFactory, card, skill

pytestmark = pytest.mark.django_db

PIECES = [
    *("translate", "Text", "c++", "100%", "a_b", "_", "%", "\\", '"', "*", "'", "-"),
    *("AND", "OR NOT", "NEAR(", ":", "^", "{", "(", "tags", "Straße", "ŁÓDŹ", "İ", "ı"),
    *("ﬁle", "Ω", "ﷺ", "é", "e\u0301", "\u0301", "ß", "ǅ", "שלום", "مرحبا", "\u202e"),
    *(
        "日本語",
        "👩‍👩‍👧",
        "🇵🇱",
        "𝔘",
        "\n",
        "\t",
        "\x1f",
        "\x1e",
        "\x07",
        "\u3000",
        "\ufeff",
    ),
    *("x" * 300, "żółw " * 30),
]
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEXTS = st.lists(
    st.sampled_from(PIECES) | st.text(CHARACTERS, max_size=3), min_size=1, max_size=4
).map(lambda pieces: " ".join(pieces)[:300])
# Often the same, or the same for long, so that all of an order has to decide.
COMMON = [
    "Same name",
    "same NAME",
    "Same name, longer",
    'quo"te here',
    "Zebra",
    "ähnlich",
]
NAMES = st.sampled_from(COMMON) | TEXTS.filter(str.strip)
SKILLS = st.builds(
    lambda name, about, tags: skill(name, description=about, tags=tags),
    NAMES,
    TEXTS,
    st.lists(TEXTS, max_size=2),
)
TOOLS = st.builds(
    lambda name, about: {"name": name, "description": about}, NAMES, TEXTS
)
AGENTS = st.integers(0, 3)
TECHNICAL = ["a2a.interface", "agent.feature"]


def a2a(agent, version, name, provider, skills):
    raw = card(f"https://a{agent}.example/a2a", skills, name=name, version=version)
    return json.dumps(raw | {"provider": provider}).encode()


def mcp(agent, version, name, tools, prompts):
    server = {"name": name, "version": version}
    url = f"https://m{agent}.example/mcp"
    offered = {"tools": tools, "prompts": prompts}
    return json.dumps({"serverInfo": server, "url": url, **offered}).encode()


VERSIONS = st.sampled_from(["1", "2"])
PROVIDERS = st.builds(
    lambda name: {"organization": name, "url": "https://p.example"},
    st.sampled_from(["Acme", "Zenith"]),
)
SKILL_LISTS = st.lists(SKILLS, min_size=1, max_size=3, unique_by=lambda s: s["id"])
TOOL_LISTS = st.lists(TOOLS, max_size=2, unique_by=lambda tool: tool["name"])
CARDS = st.builds(a2a, AGENTS, VERSIONS, NAMES, PROVIDERS, SKILL_LISTS)
SERVERS = st.builds(mcp, AGENTS, VERSIONS, NAMES, TOOL_LISTS, TOOL_LISTS)
STEPS = st.lists(
    st.tuples(st.just("register"), CARDS | SERVERS)
    | st.tuples(st.just("status"), AGENTS, st.sampled_from(Status.values))
    | st.tuples(st.just("rename"), AGENTS, NAMES)
    | st.tuples(st.just("delete"), AGENTS)
    | st.tuples(st.just("discover"), st.sampled_from(TECHNICAL)),
    min_size=5,
    max_size=7,
)


@settings(
    max_examples=8,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(
    first=st.lists(CARDS | SERVERS, min_size=4, max_size=5), steps=STEPS, data=st.data()
)
def test_rows_order_totals_pages_and_counts_are_those_of_a_plain_scan(
    first, steps, data
):
    with ExitStack() as example:
        example.enter_context(transaction.atomic())
        example.enter_context(kinds.temporarily())
        curator = UserFactory()
        for raw in first:
            register_active(raw, curator)
        assert_answers(data)
        for verb, *told in steps:
            VERBS[verb](example, curator, *told)
            assert_answers(data)
        assert_index_is_whole()
        transaction.set_rollback(True)


def register_active(raw, curator):
    """Nobody probes here: what can be reached is said by hand."""
    entry = register(raw).entry
    if entry.status == Status.UNKNOWN:
        curate(entry, {"status": Status.ACTIVE}, by=curator)


def nth(agent):
    entries = list(CatalogEntry.objects.order_by("agent_key"))
    return entries[agent % len(entries)] if entries else None


def rewrite(example, curator, raw):
    register_active(raw, curator)


def set_status(example, curator, agent, status):
    if entry := nth(agent):
        curate(entry, {"status": status}, by=curator)


def rename(example, curator, agent, name):
    if entry := nth(agent):
        curate(entry, {"display_name": name}, by=curator)


def delete(example, curator, agent):
    if entry := nth(agent):
        entry.delete()


def discover(example, curator, slug):
    known = replace(kinds.get(slug), discoverable=True)
    example.enter_context(kinds.temporarily(known))


VERBS = {
    "register": rewrite,
    "status": set_status,
    "rename": rename,
    "delete": delete,
    "discover": discover,
}


def queries():
    """Words of the catalog, cut and shouted; and what nobody would say."""
    said = [text for found in reference.reachable() for text in reference.texts(found)]
    words = st.sampled_from(said or ["nothing"]).flatmap(part_of)
    odd = st.sampled_from(PIECES) | st.text(CHARACTERS, max_size=3)
    phrases = words.map(lambda text: f'"{text}"')
    return st.lists(words | phrases | odd, min_size=1, max_size=2).map(" ".join)


def part_of(text):
    shout = st.sampled_from([str, str.upper, str.lower, str.swapcase, str.title])
    start, length = st.integers(0, max(0, len(text) - 1)), st.integers(1, 12)
    return st.builds(lambda at, n, how: how(text[at : at + n]), start, length, shout)


def assert_answers(data):
    kind = data.draw(st.sampled_from(["", "", "a2a.skill", "mcp.tool"]))
    for q in ("", data.draw(queries()), data.draw(queries())):
        assert search.kind_counts(q) == reference.kind_counts(q)
        for sort, _ in search.SORTS:
            assert_pages(SearchQuery(q, kind, sort), data.draw(st.integers(2, 7)))


def assert_pages(question, limit):
    """Window by window, whether the few are sorted or the ordering index walked."""
    expected = [
        row.identity for row in reference.scan(question.q, question.kind, question.sort)
    ]
    for few in (0, 1_000):
        with mock.patch("catalog.search.query.FEW", few):
            for offset in range(0, len(expected) + limit, limit):
                page = search.search_capabilities(question, limit, offset)
                window = [
                    (item["kind"], item["name"], item["agent_id"])
                    for item in page.items
                ]
                assert page.total == len(expected)
                assert window == expected[offset : offset + limit]


def assert_index_is_whole():
    """One row a reachable capability, and SQLite's text index says what they say."""
    keys = SearchRow.objects.values_list("capability", flat=True)
    assert set(keys) == {capability.pk for capability in reference.reachable()}
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO search_fts(search_fts, rank) VALUES('integrity-check', 1)"
            )

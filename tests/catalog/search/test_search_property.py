"""Property test: the indexed search agrees with a scan of all capabilities."""

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

# Texts that are hard to fold, tokenize or escape.
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
# Equal or similar names, so that the other sort columns decide the order.
SIMILAR_NAMES = [
    "Same name",
    "same NAME",
    "Same name, longer",
    'quo"te here',
    "Zebra",
    "ähnlich",
]
NAMES = st.sampled_from(SIMILAR_NAMES) | TEXTS.filter(str.strip)
SKILLS = st.builds(
    lambda name, description, tags: skill(name, description=description, tags=tags),
    NAMES,
    TEXTS,
    st.lists(TEXTS, max_size=2),
)
TOOLS = st.builds(
    lambda name, description: {"name": name, "description": description}, NAMES, TEXTS
)
AGENT_INDEXES = st.integers(0, 3)
TECHNICAL_KINDS = ["a2a.interface", "agent.feature"]


def build_a2a_card(agent, version, name, provider, skills):
    raw = card(f"https://a{agent}.example/a2a", skills, name=name, version=version)
    return json.dumps(raw | {"provider": provider}).encode()


def build_mcp_server(agent, version, name, tools, prompts):
    server = {"name": name, "version": version}
    url = f"https://m{agent}.example/mcp"
    document = {"serverInfo": server, "url": url, "tools": tools, "prompts": prompts}
    return json.dumps(document).encode()


VERSIONS = st.sampled_from(["1", "2"])
PROVIDERS = st.builds(
    lambda name: {"organization": name, "url": "https://p.example"},
    st.sampled_from(["Acme", "Zenith"]),
)
SKILL_LISTS = st.lists(
    SKILLS, min_size=1, max_size=3, unique_by=lambda skill: skill["id"]
)
TOOL_LISTS = st.lists(TOOLS, max_size=2, unique_by=lambda tool: tool["name"])
CARDS = st.builds(
    build_a2a_card, AGENT_INDEXES, VERSIONS, NAMES, PROVIDERS, SKILL_LISTS
)
SERVERS = st.builds(
    build_mcp_server, AGENT_INDEXES, VERSIONS, NAMES, TOOL_LISTS, TOOL_LISTS
)
STEPS = st.lists(
    st.tuples(st.just("register"), CARDS | SERVERS)
    | st.tuples(st.just("status"), AGENT_INDEXES, st.sampled_from(Status.values))
    | st.tuples(st.just("rename"), AGENT_INDEXES, NAMES)
    | st.tuples(st.just("delete"), AGENT_INDEXES)
    | st.tuples(st.just("discover"), st.sampled_from(TECHNICAL_KINDS)),
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
    definitions=st.lists(CARDS | SERVERS, min_size=4, max_size=5),
    steps=STEPS,
    data=st.data(),
)
def test_search_agrees_with_reference_after_every_change(definitions, steps, data):
    with ExitStack() as example:
        example.enter_context(transaction.atomic())
        example.enter_context(kinds.temporarily())
        curator = UserFactory()
        for raw in definitions:
            register_active(raw, curator)
        assert_same_results(data)
        for action, *arguments in steps:
            ACTIONS[action](example, curator, *arguments)
            assert_same_results(data)
        assert_index_is_consistent()
        transaction.set_rollback(True)


def register_active(raw, curator):
    """Register a definition and make its entry active, as a probe would."""
    entry = register(raw).entry
    if entry.status == Status.UNKNOWN:
        curate(entry, {"status": Status.ACTIVE}, by=curator)


def get_entry(index):
    """Return an entry by index, modulo their number, or None if there are none."""
    entries = list(CatalogEntry.objects.order_by("agent_key"))
    return entries[index % len(entries)] if entries else None


def register_definition(example, curator, raw):
    register_active(raw, curator)


def set_status(example, curator, index, status):
    if entry := get_entry(index):
        curate(entry, {"status": status}, by=curator)


def rename(example, curator, index, name):
    if entry := get_entry(index):
        curate(entry, {"display_name": name}, by=curator)


def delete(example, curator, index):
    if entry := get_entry(index):
        entry.delete()


def make_discoverable(example, curator, slug):
    kind = replace(kinds.get(slug), discoverable=True)
    example.enter_context(kinds.temporarily(kind))


ACTIONS = {
    "register": register_definition,
    "status": set_status,
    "rename": rename,
    "delete": delete,
    "discover": make_discoverable,
}


def build_queries():
    """Return a strategy for parts of the catalog's texts and for unrelated texts."""
    texts = [
        text
        for capability in reference.list_reachable()
        for text in reference.iter_texts(capability)
    ]
    words = st.sampled_from(texts or ["nothing"]).flatmap(build_substrings)
    unrelated = st.sampled_from(PIECES) | st.text(CHARACTERS, max_size=3)
    phrases = words.map(lambda text: f'"{text}"')
    return st.lists(words | phrases | unrelated, min_size=1, max_size=2).map(" ".join)


def build_substrings(text):
    """Return a strategy for parts of a text in upper, lower and mixed case."""
    cases = st.sampled_from([str, str.upper, str.lower, str.swapcase, str.title])
    starts, lengths = st.integers(0, max(0, len(text) - 1)), st.integers(1, 12)
    return st.builds(
        lambda start, length, change_case: change_case(text[start : start + length]),
        starts,
        lengths,
        cases,
    )


def assert_same_results(data):
    kind = data.draw(st.sampled_from(["", "", "a2a.skill", "mcp.tool"]))
    for q in ("", data.draw(build_queries()), data.draw(build_queries())):
        assert search.count_by_kind(q) == reference.count_by_kind(q)
        for sort, _ in search.SORTS:
            assert_pages(SearchQuery(q, kind, sort), data.draw(st.integers(2, 7)))


def assert_pages(query, limit):
    """Compare all pages, with the result sorted in Python and in the database."""
    expected = [
        row.identity
        for row in reference.search_by_scan(query.q, query.kind, query.sort)
    ]
    for small_result_limit in (0, 1_000):
        with mock.patch("catalog.search.query.SMALL_RESULT_LIMIT", small_result_limit):
            for offset in range(0, len(expected) + limit, limit):
                page = search.search_capabilities(query, limit, offset)
                keys = [
                    (item["kind"], item["name"], item["agent_id"])
                    for item in page.items
                ]
                assert page.total == len(expected)
                assert keys == expected[offset : offset + limit]


def assert_index_is_consistent():
    """Check for one row per reachable capability and an intact SQLite index."""
    keys = SearchRow.objects.values_list("capability", flat=True)
    assert set(keys) == {capability.pk for capability in reference.list_reachable()}
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO search_fts(search_fts, rank) VALUES('integrity-check', 1)"
            )

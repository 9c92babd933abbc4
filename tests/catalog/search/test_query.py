"""Searching capabilities: matching, filters, order, pages and the index."""

from dataclasses import replace

import pytest

from capabilities.kinds import discoverable_kinds, kinds
from catalog import search
from catalog.ingestion.curation import curate
from catalog.models import Capability, CatalogEntry, SearchRow, Status
from catalog.registration.service import register
from catalog.search import SearchQuery
from tests.factories import (
    CatalogEntryFactory,
    UserFactory,
    add_capability,
    card_bytes,
    skill,
)

pytestmark = pytest.mark.django_db


def create_agent(name="Agent", **fields) -> CatalogEntry:
    return CatalogEntryFactory(display_name=name, **fields)


def search_page(q="", kind="", sort="name_asc", limit=50, offset=0):
    return search.search_capabilities(SearchQuery(q, kind, sort), limit, offset)


def find_names(q="", **filters) -> list[str]:
    return [item["name"] for item in search_page(q, **filters).items]


def test_discoverable_kinds_are_sorted():
    slugs = discoverable_kinds()

    assert slugs == sorted(slugs)
    assert {"a2a.skill", "mcp.prompt", "mcp.resource", "mcp.tool"} <= set(slugs)


@pytest.mark.parametrize(
    "kind", ["a2a.extension", "a2a.interface", "a2a.security_scheme", "a2a.signature"]
)
def test_technical_kinds_are_registered_and_not_discoverable(kind):
    assert kind not in discoverable_kinds()
    assert kinds.get(kind).record_class.kind == kind


def test_same_skill_of_two_agents_is_two_items():
    add_capability(create_agent("One"), "Translate")
    add_capability(create_agent("Two"), "Translate")

    page = search_page()
    assert page.total == 2
    assert [item["agent_name"] for item in page.items] == ["One", "Two"]


def test_same_name_in_two_kinds_is_two_items():
    entry = create_agent()
    add_capability(entry, "search")
    add_capability(entry, "search", kind="mcp.tool")

    assert [item["kind"] for item in search_page().items] == ["a2a.skill", "mcp.tool"]


@pytest.mark.parametrize("q", ["translate", "TRANSLATE", "nslat"])
@pytest.mark.parametrize(
    "fields",
    [
        {"name": "Translate text"},
        {"name": "x", "description": "They Translate it"},
        {"name": "x", "properties": {"tags": ["other", "Translate"]}},
    ],
    ids=["name", "description", "tag"],
)
def test_term_matches_name_description_and_tags_case_insensitively(fields, q):
    entry = create_agent()
    add_capability(entry, **fields)
    add_capability(entry, "Something else")

    assert find_names(q) == [fields["name"]]


def test_kind_filter_excludes_other_kinds():
    entry = create_agent()
    add_capability(entry, "A skill")
    add_capability(entry, "A tool", kind="mcp.tool")

    assert find_names(kind="a2a.skill") == ["A skill"]
    assert search_page(kind="a2a.skill").total == 1


@pytest.mark.parametrize(
    ("status", "is_found"),
    [
        (Status.ACTIVE, True),
        (Status.DEGRADED, True),
        (Status.UNKNOWN, False),
        (Status.OFFLINE, False),
        (Status.DEPRECATED, False),
    ],
)
def test_only_active_and_degraded_agents_are_searched(status, is_found):
    add_capability(create_agent(status=status), "Translate")

    assert bool(search_page().total) is is_found


def test_technical_kinds_are_not_searched():
    entry = register(card_bytes()).entry
    curate(entry, {"status": Status.ACTIVE}, by=UserFactory())

    assert entry.agent_type.capabilities.filter(kind="a2a.interface").exists()
    assert {item["kind"] for item in search_page().items} == {"a2a.skill"}
    assert find_names("jsonrpc") == find_names("translator.example.com") == []


def test_current_offers_match_kind_and_name_exactly():
    entry, other = create_agent("One"), create_agent("Other")
    add_capability(entry, "Translate")
    add_capability(other, "Translate", kind="mcp.tool")
    add_capability(other, "translate")
    add_capability(other, "Translate it")

    offers = Capability.objects.current_offers("a2a.skill", "Translate")
    assert [offer.agent_type.entry for offer in offers] == [entry]


def test_current_offers_include_all_statuses():
    for status in Status:
        add_capability(create_agent(status=status), "Translate")

    offers = Capability.objects.current_offers("a2a.skill", "Translate")
    assert {offer.agent_type.entry.status for offer in offers} == set(Status)


def test_current_offers_returns_nothing_for_unknown_capability():
    assert list(Capability.objects.current_offers("a2a.skill", "Nothing")) == []


def test_older_versions_are_not_searched():
    register(card_bytes(version="1", skills=[skill("Former")]))
    entry = register(card_bytes(version="2", skills=[skill("Current")])).entry
    curate(entry, {"status": Status.ACTIVE}, by=UserFactory())

    assert find_names() == ["Current"]
    assert not Capability.objects.current_offers("a2a.skill", "Former")


def test_name_sort_orders_by_name_kind_and_agent():
    beta, alpha = create_agent("beta"), create_agent("Alpha")
    add_capability(beta, "apple", kind="mcp.tool")
    add_capability(beta, "Apple")
    add_capability(alpha, "apple")
    add_capability(alpha, "Äpfel")
    add_capability(alpha, "Zebra")

    assert [(item["name"], item["agent_name"]) for item in search_page().items] == [
        ("apple", "Alpha"),
        ("Apple", "beta"),
        ("apple", "beta"),
        ("Zebra", "Alpha"),
        ("Äpfel", "Alpha"),
    ]


def test_agent_name_sort_orders_by_agent_name_and_kind():
    beta, alpha = create_agent("beta"), create_agent("Alpha")
    add_capability(beta, "apple", kind="mcp.tool")
    add_capability(beta, "Apple")
    add_capability(alpha, "zebra")
    add_capability(alpha, "Yak")

    items = search_page(sort="agentName_asc").items
    assert [(item["agent_name"], item["name"], item["kind"]) for item in items] == [
        ("Alpha", "Yak", "a2a.skill"),
        ("Alpha", "zebra", "a2a.skill"),
        ("beta", "Apple", "a2a.skill"),
        ("beta", "apple", "mcp.tool"),
    ]


@pytest.mark.parametrize("sort", ["name_asc", "agentName_asc"])
def test_agents_with_same_name_are_ordered_by_id(sort):
    entries = [create_agent("Same") for _ in range(5)]
    for entry in entries:
        add_capability(entry, "Translate")

    agent_ids = [item["agent_id"] for item in search_page(sort=sort).items]
    assert agent_ids == sorted(str(entry.pk) for entry in entries)


def test_limit_and_offset_select_items_and_keep_total():
    entry = create_agent()
    for letter in "abcde":
        add_capability(entry, letter)

    assert find_names(limit=2, offset=2) == ["c", "d"]
    assert find_names(limit=2, offset=4) == ["e"]
    assert find_names(limit=2, offset=5) == find_names(limit=2, offset=10**9) == []
    assert search_page(limit=2, offset=10**9).total == 5


def test_total_and_kind_counts_follow_query():
    entry = create_agent()
    for n in range(3):
        add_capability(entry, f"Translate {n}")
    add_capability(entry, "Translate", kind="mcp.tool")
    add_capability(entry, "Paint")

    assert search_page().total == 5
    assert search_page("translate", limit=1).total == 4
    assert search_page("translate", kind="a2a.skill", limit=1).total == 3
    assert search.count_by_kind("translate")["a2a.skill"] == 3
    assert search.count_by_kind("paint")["mcp.tool"] == 0
    assert list(search.count_by_kind("")) == discoverable_kinds()


def test_only_skills_have_tags_and_modes():
    entry = create_agent()
    properties = {
        "tags": ["translation", "german"],
        "input_modes": ["text/plain"],
        "output_modes": ["text/plain", "application/json"],
    }
    add_capability(entry, "Skill", properties={"id": "x", **properties})
    add_capability(
        entry, "Tool", kind="mcp.tool", properties={"tags": ["no"], "title": "T"}
    )

    skill_item, tool_item = search_page().items
    assert {key: skill_item[key] for key in properties} == properties
    assert {key: tool_item[key] for key in properties} == dict.fromkeys(properties)


def test_percent_sign_is_matched_literally():
    entry = create_agent()
    add_capability(entry, "100% cotton")
    add_capability(entry, "Cotton")

    assert find_names("%") == ["100% cotton"]


def test_stored_property_keys_do_not_match():
    add_capability(
        create_agent(), "Translate", properties={"tags": ["x"], "id": "hidden"}
    )

    for q in ("tags", "input_modes", "hidden", "a2a.skill", "Agent", '{"'):
        assert find_names(q) == []


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("ŁÓDŹ", "łódź"),
        ("łódź", "ŁÓDŹ"),
        ("Straße", "STRASSE"),
        ("İstanbul", "istanbul"),
        ("ﬁle", "FILE"),
        ("e\u0301tude", "Étude"),
        ("Ｆｕｌｌ width", "full"),
    ],
)
def test_equivalent_spellings_match(text, query):
    add_capability(create_agent(), f"In {text} today")

    assert find_names(query) == [f"In {text} today"]


def test_terms_match_in_any_order_and_phrase_only_in_sequence():
    entry = create_agent()
    add_capability(entry, "Read text aloud")
    add_capability(entry, "Text, then read", description="aloud")
    add_capability(entry, "Text only")

    assert find_names("text read") == find_names("READ Text") != []
    assert find_names("text read aloud") == ["Read text aloud", "Text, then read"]
    assert find_names('"read text"') == ["Read text aloud"]


def test_capability_phrase_does_not_match_across_fields():
    add_capability(
        create_agent(),
        "Alpha",
        description="Beta",
        properties={"tags": ["Gamma", "Delta"]},
    )

    assert find_names("alpha beta gamma delta") == ["Alpha"]
    for q in ("alphabeta", '"alpha beta"', '"gamma delta"', '"alpha\x1fbeta"'):
        assert find_names(q) == []


@pytest.mark.parametrize("q", ["a", "al", "ph", "ha"])
def test_terms_shorter_than_a_trigram_are_found(q):
    entry = create_agent()
    add_capability(entry, "Alpha")
    add_capability(entry, "x", kind="mcp.tool")

    assert find_names(q) == ["Alpha"]
    assert find_names(f"{q} alpha") == ["Alpha"]


def test_kind_made_discoverable_is_searched_without_reindexing():
    curate(register(card_bytes()).entry, {"status": "active"}, by=UserFactory())
    kind = replace(kinds.get("a2a.interface"), discoverable=True)

    with kinds.temporarily(kind):
        item_kinds = [item["kind"] for item in search_page().items]
        assert item_kinds == ["a2a.interface", "a2a.skill"]
        assert find_names("translator.example", kind="a2a.interface")
    assert [item["kind"] for item in search_page().items] == ["a2a.skill"]


def test_unregistered_kind_is_not_searched():
    add_capability(create_agent(), "Snow", kind="weather.forecast", properties={})

    assert search_page().total == 0
    assert SearchRow.objects.count() == 1


@pytest.mark.parametrize("change", ["version", "bytes", "status", "name", "delete"])
def test_index_follows_every_change_of_entry(change):
    user = UserFactory()
    entry = register(card_bytes(version="1", skills=[skill("Paint")])).entry
    curate(entry, {"status": Status.ACTIVE}, by=user)
    assert find_names("paint") == ["Paint"]

    if change in ("version", "bytes"):
        version = "2" if change == "version" else "1"
        register(card_bytes(version=version, skills=[skill("Glaze")]))
    elif change == "status":
        curate(entry, {"status": Status.DEPRECATED}, by=user)
    elif change == "name":
        curate(entry, {"display_name": "Renamed"}, by=user)
    else:
        entry.delete()

    assert bool(find_names("paint")) is (change == "name")
    assert find_names("glaze") == (["Glaze"] if change in ("version", "bytes") else [])
    assert {item["agent_name"] for item in search_page().items} <= {
        "Translator",
        "Renamed",
    }


def test_reactivated_entry_has_same_results_as_before():
    user = UserFactory()
    entry = register(card_bytes()).entry
    curate(entry, {"status": Status.ACTIVE}, by=user)
    before = search_page()
    curate(entry, {"status": Status.DEPRECATED}, by=user)
    assert search_page().total == 0
    curate(entry, {"status": Status.ACTIVE}, by=user)

    assert search_page() == before


def test_rebuild_index_repairs_damaged_rows():
    entry = create_agent()
    capability = add_capability(entry, "Translate")
    wrong_entry = create_agent("Wrong", status=Status.OFFLINE)
    SearchRow.objects.update(text="damaged", entry=wrong_entry)

    assert list(search.rebuild_index()) == [2]
    assert find_names("translate") == ["Translate"]
    row = SearchRow.objects.get()
    assert (row.capability, row.entry) == (capability, entry)


def test_rebuild_index_works_in_batches(monkeypatch):
    monkeypatch.setattr("catalog.search.indexer.INDEX_BATCH_SIZE", 2)
    for _ in range(5):
        CatalogEntryFactory(offers=["a2a.skill"])
    SearchRow.objects.all().delete()

    assert list(search.rebuild_index()) == [2, 2, 1]
    assert search_page().total == 5


@pytest.mark.parametrize(
    ("q", "query_count"), [("", 3), ("skill", 2), ("sk", 2), ("skill sk", 2)]
)
def test_search_query_count_is_independent_of_number_of_capabilities(
    q, query_count, django_assert_num_queries
):
    """A page needs count, keys and rows; few matches need no count."""
    for new_entries, item_count in ((3, 3), (57, 50)):
        for _ in range(new_entries):
            CatalogEntryFactory(offers=["a2a.skill"])
        with django_assert_num_queries(query_count):
            assert len(search_page(q).items) == item_count
        with django_assert_num_queries(1):
            search.count_by_kind(q)

"""Seed 000's store tests, and what the design adds to them."""

from dataclasses import replace

import pytest

from capabilities.kinds import discoverable_kinds, kinds
from catalog import search
from catalog.ingestion.curation import curate
from catalog.models import Capability, CatalogEntry, SearchRow, Status
from catalog.registration.service import register
from catalog.search import SearchQuery
from catalog.search.indexer import index_entries
from tests.factories import (
    CapabilityFactory,
    CatalogEntryFactory,
    UserFactory,
    card_bytes,
    skill,
)

pytestmark = pytest.mark.django_db


def agent(name="Agent", **fields) -> CatalogEntry:
    return CatalogEntryFactory(display_name=name, **fields)


def offer(entry, name, kind="a2a.skill", **fields) -> Capability:
    made = CapabilityFactory(
        agent_type=entry.agent_type, kind=kind, name=name, **fields
    )
    index_entries(CatalogEntry.objects.filter(pk=entry.pk))
    return made


def find(q="", kind="", sort="name_asc", limit=50, offset=0):
    return search.search_capabilities(SearchQuery(q, kind, sort), limit, offset)


def names(q="", **asked) -> list[str]:
    return [item["name"] for item in find(q, **asked).items]


def test_the_four_kinds_of_the_seed_are_discoverable_and_sorted():
    found = discoverable_kinds()

    assert found == sorted(found)
    assert {"a2a.skill", "mcp.prompt", "mcp.resource", "mcp.tool"} <= set(found)


@pytest.mark.parametrize(
    "kind", ["a2a.extension", "a2a.interface", "a2a.security_scheme", "a2a.signature"]
)
def test_technical_kinds_are_not_discoverable_but_known(kind):
    assert kind not in discoverable_kinds()
    assert kinds.get(kind).record_class.kind == kind


def test_two_agents_with_the_same_skill_are_two_items():
    offer(agent("One"), "Translate")
    offer(agent("Two"), "Translate")

    found = find()
    assert found.total == 2
    assert [item["agent_name"] for item in found.items] == ["One", "Two"]


def test_the_same_name_in_another_kind_is_another_item():
    entry = agent()
    offer(entry, "search")
    offer(entry, "search", kind="mcp.tool")

    assert [item["kind"] for item in find().items] == ["a2a.skill", "mcp.tool"]


@pytest.mark.parametrize("q", ["translate", "TRANSLATE", "nslat"])
@pytest.mark.parametrize(
    "said",
    [
        {"name": "Translate text"},
        {"name": "x", "description": "They Translate it"},
        {"name": "x", "properties": {"tags": ["other", "Translate"]}},
    ],
    ids=["name", "description", "tag"],
)
def test_a_word_is_found_in_name_description_and_tags_whatever_its_case(said, q):
    entry = agent()
    offer(entry, **said)
    offer(entry, "Something else")

    assert names(q) == [said["name"]]


def test_a_kind_leaves_the_others_out():
    entry = agent()
    offer(entry, "A skill")
    offer(entry, "A tool", kind="mcp.tool")

    assert names(kind="a2a.skill") == ["A skill"]
    assert find(kind="a2a.skill").total == 1


@pytest.mark.parametrize(
    ("status", "there"),
    [
        (Status.ACTIVE, True),
        (Status.DEGRADED, True),
        (Status.UNKNOWN, False),
        (Status.OFFLINE, False),
        (Status.DEPRECATED, False),
    ],
)
def test_only_active_and_degraded_agents_are_there(status, there):
    offer(agent(status=status), "Translate")

    assert bool(find().total) is there


def test_technical_kinds_never_are_there():
    entry = register(card_bytes()).entry
    curate(entry, {"status": Status.ACTIVE}, by=UserFactory())

    assert entry.agent_type.capabilities.filter(kind="a2a.interface").exists()
    assert {item["kind"] for item in find().items} == {"a2a.skill"}
    assert names("jsonrpc") == names("translator.example.com") == []


def test_agents_of_a_capability_are_those_with_exactly_this_kind_and_name():
    one, other = agent("One"), agent("Other")
    offer(one, "Translate")
    offer(other, "Translate", kind="mcp.tool")
    offer(other, "translate")
    offer(other, "Translate it")

    offered = Capability.objects.current_offers("a2a.skill", "Translate")
    assert [each.agent_type.entry for each in offered] == [one]


def test_agents_of_a_capability_are_there_in_all_statuses():
    for status in Status:
        offer(agent(status=status), "Translate")

    offered = Capability.objects.current_offers("a2a.skill", "Translate")
    assert {each.agent_type.entry.status for each in offered} == set(Status)


def test_nobody_offers_what_does_not_exist():
    assert list(Capability.objects.current_offers("a2a.skill", "Nothing")) == []


def test_former_versions_offer_nothing():
    register(card_bytes(version="1", skills=[skill("Former")]))
    entry = register(card_bytes(version="2", skills=[skill("Current")])).entry
    curate(entry, {"status": Status.ACTIVE}, by=UserFactory())

    assert names() == ["Current"]
    assert not Capability.objects.current_offers("a2a.skill", "Former")


def test_by_name_then_kind_then_agent():
    beta, alpha = agent("beta"), agent("Alpha")
    offer(beta, "apple", kind="mcp.tool")
    offer(beta, "Apple")
    offer(alpha, "apple")
    offer(alpha, "Äpfel")
    offer(alpha, "Zebra")

    assert [(item["name"], item["agent_name"]) for item in find().items] == [
        ("apple", "Alpha"),
        ("Apple", "beta"),
        ("apple", "beta"),
        ("Zebra", "Alpha"),
        ("Äpfel", "Alpha"),
    ]


def test_by_agent_then_name_then_kind():
    beta, alpha = agent("beta"), agent("Alpha")
    offer(beta, "apple", kind="mcp.tool")
    offer(beta, "Apple")
    offer(alpha, "zebra")
    offer(alpha, "Yak")

    found = find(sort="agentName_asc").items
    assert [(item["agent_name"], item["name"], item["kind"]) for item in found] == [
        ("Alpha", "Yak", "a2a.skill"),
        ("Alpha", "zebra", "a2a.skill"),
        ("beta", "Apple", "a2a.skill"),
        ("beta", "apple", "mcp.tool"),
    ]


@pytest.mark.parametrize("sort", ["name_asc", "agentName_asc"])
def test_agents_of_one_name_are_told_apart_by_their_id(sort):
    entries = [agent("Same") for _ in range(5)]
    for entry in entries:
        offer(entry, "Translate")

    found = [item["agent_id"] for item in find(sort=sort).items]
    assert found == sorted(str(entry.pk) for entry in entries)


def test_a_window_shows_its_part_and_the_whole_total():
    entry = agent()
    for letter in "abcde":
        offer(entry, letter)

    assert names(limit=2, offset=2) == ["c", "d"]
    assert names(limit=2, offset=4) == ["e"]
    assert names(limit=2, offset=5) == names(limit=2, offset=10**9) == []
    assert find(limit=2, offset=10**9).total == 5


def test_the_total_is_of_what_was_asked_for():
    entry = agent()
    for n in range(3):
        offer(entry, f"Translate {n}")
    offer(entry, "Translate", kind="mcp.tool")
    offer(entry, "Paint")

    assert find().total == 5
    assert find("translate", limit=1).total == 4
    assert find("translate", kind="a2a.skill", limit=1).total == 3
    assert search.kind_counts("translate")["a2a.skill"] == 3
    assert search.kind_counts("paint")["mcp.tool"] == 0
    assert list(search.kind_counts("")) == discoverable_kinds()


def test_skills_have_tags_and_modes_and_others_have_none():
    entry = agent()
    listed = {
        "tags": ["translation", "german"],
        "input_modes": ["text/plain"],
        "output_modes": ["text/plain", "application/json"],
    }
    offer(entry, "Skill", properties={"id": "x", **listed})
    offer(entry, "Tool", kind="mcp.tool", properties={"tags": ["no"], "title": "T"})

    skill_item, tool_item = find().items
    assert {key: skill_item[key] for key in listed} == listed
    assert {key: tool_item[key] for key in listed} == dict.fromkeys(listed)


def test_a_percent_sign_finds_only_percent_signs():
    entry = agent()
    offer(entry, "100% cotton")
    offer(entry, "Cotton")

    assert names("%") == ["100% cotton"]


def test_a_word_of_the_storage_finds_nothing():
    offer(agent(), "Translate", properties={"tags": ["x"], "id": "hidden"})

    for q in ("tags", "input_modes", "hidden", "a2a.skill", "Agent", '{"'):
        assert names(q) == []


@pytest.mark.parametrize(
    ("said", "asked"),
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
def test_any_spelling_is_found_by_any_other(said, asked):
    offer(agent(), f"In {said} today")

    assert names(asked) == [f"In {said} today"]


def test_two_words_in_any_order_find_both_and_a_phrase_only_itself():
    entry = agent()
    offer(entry, "Read text aloud")
    offer(entry, "Text, then read", description="aloud")
    offer(entry, "Text only")

    assert names("text read") == names("READ Text") != []
    assert names("text read aloud") == ["Read text aloud", "Text, then read"]
    assert names('"read text"') == ["Read text aloud"]


def test_a_phrase_does_not_run_from_one_field_into_the_next():
    offer(agent(), "Alpha", description="Beta", properties={"tags": ["Gamma", "Delta"]})

    assert names("alpha beta gamma delta") == ["Alpha"]
    for q in ("alphabeta", '"alpha beta"', '"gamma delta"', '"alpha\x1fbeta"'):
        assert names(q) == []


@pytest.mark.parametrize("q", ["a", "al", "ph", "ha"])
def test_one_and_two_letters_are_found_too(q):
    entry = agent()
    offer(entry, "Alpha")
    offer(entry, "x", kind="mcp.tool")

    assert names(q) == ["Alpha"]
    assert names(f"{q} alpha") == ["Alpha"]


def test_a_technical_kind_made_discoverable_is_there_without_indexing_anew():
    curate(register(card_bytes()).entry, {"status": "active"}, by=UserFactory())
    known = replace(kinds.get("a2a.interface"), discoverable=True)

    with kinds.temporarily(known):
        shown = [item["kind"] for item in find().items]
        assert shown == ["a2a.interface", "a2a.skill"]
        assert names("translator.example", kind="a2a.interface")
    assert [item["kind"] for item in find().items] == ["a2a.skill"]


def test_an_unknown_kind_left_behind_by_a_removed_app_is_not_shown():
    offer(agent(), "Snow", kind="weather.forecast", properties={})

    assert find().total == 0
    assert SearchRow.objects.count() == 1


@pytest.mark.parametrize("change", ["version", "bytes", "status", "name", "delete"])
def test_what_was_written_is_found_at_once_and_what_is_gone_is_not(change):
    user = UserFactory()
    entry = register(card_bytes(version="1", skills=[skill("Paint")])).entry
    curate(entry, {"status": Status.ACTIVE}, by=user)
    assert names("paint") == ["Paint"]

    if change in ("version", "bytes"):
        version = "2" if change == "version" else "1"
        register(card_bytes(version=version, skills=[skill("Glaze")]))
    elif change == "status":
        curate(entry, {"status": Status.DEPRECATED}, by=user)
    elif change == "name":
        curate(entry, {"display_name": "Renamed"}, by=user)
    else:
        entry.delete()

    gone = change != "name"
    assert bool(names("paint")) is not gone
    assert names("glaze") == (["Glaze"] if change in ("version", "bytes") else [])
    assert {item["agent_name"] for item in find().items} <= {"Translator", "Renamed"}


def test_deprecated_and_active_again_is_as_before():
    user = UserFactory()
    entry = register(card_bytes()).entry
    curate(entry, {"status": Status.ACTIVE}, by=user)
    before = find()
    curate(entry, {"status": Status.DEPRECATED}, by=user)
    assert find().total == 0
    curate(entry, {"status": Status.ACTIVE}, by=user)

    assert find() == before


def test_the_whole_index_can_be_built_anew():
    entry = agent()
    capability = offer(entry, "Translate")
    stray = agent("Stray", status=Status.OFFLINE)
    SearchRow.objects.update(text="damaged", entry=stray)

    assert list(search.rebuild_index()) == [2]
    assert names("translate") == ["Translate"]
    row = SearchRow.objects.get()
    assert (row.capability, row.entry) == (capability, entry)


def test_building_anew_goes_chunk_by_chunk(monkeypatch):
    monkeypatch.setattr("catalog.search.indexer.CHUNK", 2)
    for _ in range(5):
        CatalogEntryFactory(offers=["a2a.skill"])
    SearchRow.objects.all().delete()

    assert list(search.rebuild_index()) == [2, 2, 1]
    assert find().total == 5


@pytest.mark.parametrize(
    ("q", "needed"), [("", 3), ("skill", 2), ("sk", 2), ("skill sk", 2)]
)
def test_a_page_takes_as_many_queries_for_three_rows_as_for_sixty(
    q, needed, django_assert_num_queries
):
    """Count, keys, rows; where few match, their keys are their count."""
    for more, shown in ((3, 3), (57, 50)):
        for _ in range(more):
            CatalogEntryFactory(offers=["a2a.skill"])
        with django_assert_num_queries(needed):
            assert len(find(q).items) == shown
        with django_assert_num_queries(1):
            search.kind_counts(q)

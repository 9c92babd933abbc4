import pytest

from capabilities.problems import Problems
from capabilities.protocols.agh.cards import (
    BRIEF_KEY,
    CATALOG_KEY,
    CapabilityBrief,
    PeerCard,
    warn_brief_mismatch,
)

from .making import card, paths, read_card

LISTS = [
    *("profiles_supported", "capabilities"),
    *("artifacts_supported", "trust_modes_supported"),
]


def errors(stated):
    problems = Problems()
    PeerCard.parse(stated, problems)
    return paths(problems.errors)


@pytest.mark.parametrize("peer_id", ["a", "0", "a.b_c-d", "a" * 128, " a\u3000"])
def test_a_peer_id_of_the_grammar_will_do(peer_id):
    assert not errors(card(peer_id=peer_id))


@pytest.mark.parametrize(
    "peer_id", ["", "A", ".a", "-a", "a b", "ä", "a" * 129, "a\n.b", None, 5]
)
def test_another_will_not(peer_id):
    assert errors(card(peer_id=peer_id)) == ["$.peer_id"]


@pytest.mark.parametrize("key", LISTS)
@pytest.mark.parametrize("value", [None, "a", {}, 0])
def test_lists_are_required_and_never_null(key, value):
    assert errors(card(**{key: value})) == [f"$.{key}"]


@pytest.mark.parametrize("key", LISTS)
def test_a_missing_list_is_an_error_and_an_empty_one_is_none(key):
    wanting = {k: v for k, v in card().items() if k != key}

    assert errors(wanting) == [f"$.{key}"]
    assert not errors(card(**{key: []}))


@pytest.mark.parametrize("key", LISTS)
def test_items_are_trimmed_and_blanks_dropped(key):
    read = read_card(**{key: [" a ", "", "\u2003", "b", "a"]})

    assert getattr(read, key) == ("a", "b", "a")


@pytest.mark.parametrize("key", LISTS)
def test_an_item_that_is_no_text_is_an_error_at_its_place(key):
    assert errors(card(**{key: ["a", 5]})) == [f"$.{key}[1]"]


@pytest.mark.parametrize(
    ("stated", "name"),
    [(None, ""), ("", ""), (" \n", ""), ("Designer", "Designer"), (" D ", " D ")],
)
def test_a_display_name_is_kept_unless_blank(stated, name):
    assert read_card(display_name=stated).display_name == name


def test_a_display_name_is_a_text_and_ext_an_object():
    assert errors(card(display_name=5, ext=[])) == ["$.display_name", "$.ext"]
    assert errors([])[0] == "$"


BRIEFS = [{"id": "a", "summary": "Does a."}, {"id": "b", "summary": "Does b."}]


def test_the_brief_is_read_entry_by_entry():
    read = read_card(capabilities=["a", "b"], ext={BRIEF_KEY: BRIEFS})

    assert read.briefs == [
        CapabilityBrief("a", "Does a."),
        CapabilityBrief("b", "Does b."),
    ]


@pytest.mark.parametrize(
    ("stated", "summaries"),
    [
        (None, ["", ""]),
        ("a", ["", ""]),
        ({}, ["", ""]),
        ([], ["", ""]),
        ([5, None, []], ["", ""]),
        ([{"id": 5, "summary": "x"}], ["", ""]),
        ([{"id": "a"}], ["", ""]),
        ([{"id": "a", "summary": 5}, {"id": "b", "summary": " B "}], ["", "B"]),
        ([{"id": "b", "summary": "B"}, {"id": " a ", "summary": "A"}], ["A", "B"]),
        ([{"id": "c", "summary": "C"}], ["", ""]),
        ([{"id": "a", "summary": "A"}, {"id": "a", "summary": "Z"}], ["A", ""]),
    ],
)
def test_a_malformed_brief_is_only_advice(stated, summaries):
    read = read_card(capabilities=["a", "b"], ext={BRIEF_KEY: stated})
    problems = Problems()
    warn_brief_mismatch(read, problems)

    assert [brief.summary for brief in read.briefs] == summaries
    assert [brief.id for brief in read.briefs] == ["a", "b"]
    assert not problems.errors
    assert paths(problems.warnings) == [f"$.ext['{BRIEF_KEY}']"]


def test_a_good_brief_raises_no_doubt_even_with_more_in_it():
    more = [each | {"since": 2026} for each in BRIEFS]
    for ext in ({}, {BRIEF_KEY: BRIEFS}, {BRIEF_KEY: more}):
        problems = Problems()
        warn_brief_mismatch(read_card(capabilities=["a", "b"], ext=ext), problems)
        assert not problems.warnings


def test_a_catalog_is_projected_in_both_places():
    offered = PeerCard(peer_id="x").with_capabilities(
        [CapabilityBrief(" a ", "Does a. "), CapabilityBrief("b")]
    )

    assert offered.to_wire() == {
        "peer_id": "x",
        "profiles_supported": ["agh-network/v0"],
        "capabilities": ["a", "b"],
        "artifacts_supported": ["capability"],
        "trust_modes_supported": ["unverified"],
        "ext": {
            BRIEF_KEY: [{"id": "a", "summary": "Does a."}, {"id": "b", "summary": ""}]
        },
    }


def test_a_projection_replaces_the_brief_and_nothing_else():
    before = read_card(capabilities=["z"], ext={BRIEF_KEY: [], "acme.x": 1}, new=[2])

    wire = before.with_capabilities([CapabilityBrief("a", "A")]).to_wire()

    assert wire["capabilities"] == ["a"]
    assert wire["ext"] == {"acme.x": 1, BRIEF_KEY: [{"id": "a", "summary": "A"}]}
    assert wire["new"] == [2]


def test_what_is_projected_is_read_again():
    briefs = [CapabilityBrief("a", "A"), CapabilityBrief("b", "")]
    wire = PeerCard(peer_id="x").with_capabilities(briefs).to_wire()

    assert PeerCard.parse(wire, Problems()).briefs == briefs


def test_a_card_never_carries_the_whole_catalog():
    read = read_card(ext={CATALOG_KEY: {"capabilities": []}, "acme.x": 1})

    assert read.to_wire()["ext"] == {"acme.x": 1}


def test_unknown_members_travel_on():
    raw = card(display_name=" D ", ext={"acme.x": None}, later={"a": [1]})

    assert PeerCard.parse(raw, Problems()).to_wire() == raw


ASKED = read_card(
    display_name="Designer",
    capabilities=["build-site"],
    trust_modes_supported=["unverified"],
)


@pytest.mark.parametrize(
    "query",
    [
        *("", "  ", "designer", "Designer", "build-site", " build-site\n"),
        *("agh-network/v0", "capability", "unverified"),
    ],
)
def test_a_query_finds_the_peer_by_the_very_word(query):
    assert ASKED.matches_query(query)


@pytest.mark.parametrize(
    "query", ["DESIGNER", "design", "build", "build-site x", "Build-site", "*"]
)
def test_and_by_no_other(query):
    assert not ASKED.matches_query(query)


def test_a_blank_display_name_answers_to_nothing_but_silence():
    assert read_card(display_name=" ").matches_query(" ")
    assert not read_card(display_name=" ").matches_query("None")

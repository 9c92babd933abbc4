import pytest

from capabilities.problems import Problems
from capabilities.protocols.agh.cards import (
    BRIEF_KEY,
    CATALOG_KEY,
    CapabilityBrief,
    PeerCard,
    warn_brief_mismatch,
)

from .messages import build_card, get_paths, parse_card

LIST_MEMBERS = [
    *("profiles_supported", "capabilities"),
    *("artifacts_supported", "trust_modes_supported"),
]


def get_error_paths(raw):
    problems = Problems()
    PeerCard.parse(raw, problems)
    return get_paths(problems.errors)


@pytest.mark.parametrize("peer_id", ["a", "0", "a.b_c-d", "a" * 128, " a\u3000"])
def test_valid_peer_id_is_accepted(peer_id):
    assert not get_error_paths(build_card(peer_id=peer_id))


@pytest.mark.parametrize(
    "peer_id", ["", "A", ".a", "-a", "a b", "ä", "a" * 129, "a\n.b", None, 5]
)
def test_invalid_peer_id_is_an_error(peer_id):
    assert get_error_paths(build_card(peer_id=peer_id)) == ["$.peer_id"]


@pytest.mark.parametrize("key", LIST_MEMBERS)
@pytest.mark.parametrize("value", [None, "a", {}, 0])
def test_card_list_member_that_is_not_a_list_is_an_error(key, value):
    assert get_error_paths(build_card(**{key: value})) == [f"$.{key}"]


@pytest.mark.parametrize("key", LIST_MEMBERS)
def test_missing_list_is_an_error_and_empty_list_is_valid(key):
    incomplete = {k: v for k, v in build_card().items() if k != key}

    assert get_error_paths(incomplete) == [f"$.{key}"]
    assert not get_error_paths(build_card(**{key: []}))


@pytest.mark.parametrize("key", LIST_MEMBERS)
def test_list_items_are_trimmed_and_blanks_dropped(key):
    parsed = parse_card(**{key: [" a ", "", "\u2003", "b", "a"]})

    assert getattr(parsed, key) == ("a", "b", "a")


@pytest.mark.parametrize("key", LIST_MEMBERS)
def test_list_item_of_wrong_type_is_an_error_with_path(key):
    assert get_error_paths(build_card(**{key: ["a", 5]})) == [f"$.{key}[1]"]


@pytest.mark.parametrize(
    ("display_name", "expected"),
    [(None, ""), ("", ""), (" \n", ""), ("Designer", "Designer"), (" D ", " D ")],
)
def test_display_name_is_empty_if_blank(display_name, expected):
    assert parse_card(display_name=display_name).display_name == expected


def test_display_name_and_ext_of_wrong_type_are_errors():
    assert get_error_paths(build_card(display_name=5, ext=[])) == [
        "$.display_name",
        "$.ext",
    ]
    assert get_error_paths([])[0] == "$"


BRIEFS = [{"id": "a", "summary": "Does a."}, {"id": "b", "summary": "Does b."}]


def test_briefs_are_read_from_ext():
    parsed = parse_card(capabilities=["a", "b"], ext={BRIEF_KEY: BRIEFS})

    assert parsed.briefs == [
        CapabilityBrief("a", "Does a."),
        CapabilityBrief("b", "Does b."),
    ]


@pytest.mark.parametrize(
    ("raw_briefs", "summaries"),
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
def test_malformed_brief_is_only_a_warning(raw_briefs, summaries):
    parsed = parse_card(capabilities=["a", "b"], ext={BRIEF_KEY: raw_briefs})
    problems = Problems()
    warn_brief_mismatch(parsed, problems)

    assert [brief.summary for brief in parsed.briefs] == summaries
    assert [brief.id for brief in parsed.briefs] == ["a", "b"]
    assert not problems.errors
    assert get_paths(problems.warnings) == [f"$.ext['{BRIEF_KEY}']"]


def test_matching_brief_with_extra_members_has_no_warning():
    extended_briefs = [brief | {"since": 2026} for brief in BRIEFS]
    for ext in ({}, {BRIEF_KEY: BRIEFS}, {BRIEF_KEY: extended_briefs}):
        problems = Problems()
        warn_brief_mismatch(parse_card(capabilities=["a", "b"], ext=ext), problems)
        assert not problems.warnings


def test_with_capabilities_sets_ids_and_briefs():
    peer_card = PeerCard(peer_id="x").with_capabilities(
        [CapabilityBrief(" a ", "Does a. "), CapabilityBrief("b")]
    )

    assert peer_card.to_wire() == {
        "peer_id": "x",
        "profiles_supported": ["agh-network/v0"],
        "capabilities": ["a", "b"],
        "artifacts_supported": ["capability"],
        "trust_modes_supported": ["unverified"],
        "ext": {
            BRIEF_KEY: [{"id": "a", "summary": "Does a."}, {"id": "b", "summary": ""}]
        },
    }


def test_with_capabilities_keeps_other_members():
    original = parse_card(capabilities=["z"], ext={BRIEF_KEY: [], "acme.x": 1}, new=[2])

    wire = original.with_capabilities([CapabilityBrief("a", "A")]).to_wire()

    assert wire["capabilities"] == ["a"]
    assert wire["ext"] == {"acme.x": 1, BRIEF_KEY: [{"id": "a", "summary": "A"}]}
    assert wire["new"] == [2]


def test_briefs_survive_wire_round_trip():
    briefs = [CapabilityBrief("a", "A"), CapabilityBrief("b", "")]
    wire = PeerCard(peer_id="x").with_capabilities(briefs).to_wire()

    assert PeerCard.parse(wire, Problems()).briefs == briefs


def test_card_to_wire_omits_the_catalog():
    parsed = parse_card(ext={CATALOG_KEY: {"capabilities": []}, "acme.x": 1})

    assert parsed.to_wire()["ext"] == {"acme.x": 1}


def test_unknown_members_survive_round_trip():
    raw = build_card(display_name=" D ", ext={"acme.x": None}, later={"a": [1]})

    assert PeerCard.parse(raw, Problems()).to_wire() == raw


DESIGNER = parse_card(
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
def test_query_matches_exact_values(query):
    assert DESIGNER.matches_query(query)


@pytest.mark.parametrize(
    "query", ["DESIGNER", "design", "build", "build-site x", "Build-site", "*"]
)
def test_query_does_not_match_other_text(query):
    assert not DESIGNER.matches_query(query)


def test_blank_display_name_matches_only_blank_query():
    assert parse_card(display_name=" ").matches_query(" ")
    assert not parse_card(display_name=" ").matches_query("None")

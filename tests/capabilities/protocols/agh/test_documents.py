import json

import pytest

from capabilities.problems import Problem, Problems
from capabilities.protocols.agh.documents import (
    DOCUMENT_LIST_MEMBERS,
    CapabilityDocument,
)

from .making import document, paths, stated

LEFT_OUT = object()


def faults(value):
    problems = Problems()
    CapabilityDocument.parse(value, problems)
    return problems


@pytest.mark.parametrize("key", ["id", "summary", "outcome"])
@pytest.mark.parametrize("value", ["", " \u3000\n", None, 5, ["a"], LEFT_OUT])
def test_id_summary_and_outcome_are_required(key, value):
    wanting = {k: v for k, v in stated(**{key: value}).items() if v is not LEFT_OUT}

    assert faults(wanting).errors == [Problem(f"$.{key}", "must be a non-empty string")]


def test_a_unit_separator_is_no_white_space():
    assert document(id="\x1f").id == "\x1f"


@pytest.mark.parametrize("value", [[], "a", None, 5, True])
def test_a_document_is_an_object(value):
    assert faults(value).errors[0] == Problem("$", "must be an object")


@pytest.mark.parametrize("key", ["version", "digest"])
@pytest.mark.parametrize("value", [5, [], {}, False])
def test_version_and_digest_are_texts(key, value):
    assert faults(stated(**{key: value})).errors == [
        Problem(f"$.{key}", "must be a string")
    ]


@pytest.mark.parametrize("key", [*DOCUMENT_LIST_MEMBERS, "requirements"])
@pytest.mark.parametrize("value", ["a", 5, {}, False])
def test_lists_are_lists(key, value):
    assert faults(stated(**{key: value})).errors == [
        Problem(f"$.{key}", "must be a list of strings")
    ]


@pytest.mark.parametrize("key", [*DOCUMENT_LIST_MEMBERS, "requirements"])
def test_lists_hold_texts_only(key):
    found = faults(stated(**{key: ["a", 1, None, ["b"]]}))

    assert paths(found.errors) == [f"$.{key}[{n}]" for n in (1, 2, 3)]


@pytest.mark.parametrize(
    "key", ["version", "digest", *DOCUMENT_LIST_MEMBERS, "requirements"]
)
def test_null_is_as_good_as_absent(key):
    assert document(**{key: None}) == document()


@pytest.mark.parametrize(
    ("listed", "path"),
    [
        (["a", ""], "$.requirements[1]"),
        ([" \t", "a"], "$.requirements[0]"),
        (["a", "b", " a "], "$.requirements[2]"),
    ],
)
def test_requirements_are_neither_blank_nor_repeated(listed, path):
    assert paths(faults(stated(requirements=listed)).errors) == [path]


def test_every_problem_is_told_at_its_place():
    found = faults({"id": 1, "version": 2, "examples": [3], "requirements": 4})

    assert sorted(paths(found.errors)) == [
        "$.examples[0]",
        "$.id",
        "$.outcome",
        "$.requirements",
        "$.summary",
        "$.version",
    ]


def test_the_place_begins_where_the_document_stands():
    problems = Problems()
    CapabilityDocument.parse(stated(id=""), problems, "$.body.capability")

    assert paths(problems.errors) == ["$.body.capability.id"]


@pytest.mark.parametrize("digest", ["sha256:ABC", "md5:0", "sha256:" + "A" * 64])
def test_a_digest_of_another_form_is_told_and_never_verified(digest):
    assert paths(faults(stated(digest=digest)).warnings) == ["$.digest"]
    assert not document(digest=digest).is_verified


def test_a_digest_is_compared_after_trimming_only():
    digest = document().compute_digest()

    assert document(digest=f" {digest}\n").is_verified
    assert not document(digest=digest.upper()).is_verified
    assert not document(digest=digest.removeprefix("sha256:")).is_verified
    assert not document().is_verified


@pytest.mark.parametrize("key", ["id", "summary", "outcome", "version"])
def test_another_text_is_another_digest(key):
    assert document(**{key: "z"}).compute_digest() != document().digest()


@pytest.mark.parametrize("key", DOCUMENT_LIST_MEMBERS)
def test_descriptive_lists_keep_order_and_duplicates(key):
    told = document(**{key: [" b ", "", "a", "b"]})

    assert getattr(told, key) == ("b", "a", "b")
    assert told.to_wire()[key] == ["b", "a", "b"]


def test_half_a_character_becomes_the_replacement_character():
    told = document(summary="\ud800 x")

    assert told.summary == "\ufffd x"
    assert "\ufffd x".encode() in told.canonical_json()


def test_controls_are_escaped_in_lowercase_and_delete_stays():
    text = document(summary="a\x01\x1b\x7f\b\f/").canonical_json().decode()

    assert r'"a\u0001\u001b' + "\x7f" + r'\b\f/"' in text


def test_the_canonical_text_is_json_that_says_the_same():
    told = document(summary='<&>\u2028\u2029"\\', examples=["é"])

    assert json.loads(told.canonical_json()) == {
        "id": "a",
        "summary": '<&>\u2028\u2029"\\',
        "outcome": "A is done.",
        "examples": ["é"],
    }


def test_on_the_wire_unknown_members_follow_the_known_ones():
    raw = {"workspace_id": "ws", **stated(version="1"), "new": {"x": [1, None]}}
    told = CapabilityDocument.parse(raw, Problems())

    assert told.raw is raw
    assert list(told.to_wire()) == [
        *("id", "summary", "outcome", "version", "digest", "workspace_id", "new")
    ]
    assert told.to_wire()["new"] == {"x": [1, None]}


def test_unknown_members_are_not_hashed():
    assert document(new=1).compute_digest() == document().digest()

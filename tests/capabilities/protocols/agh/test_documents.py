import json

import pytest

from capabilities.problems import Problem, Problems
from capabilities.protocols.agh.documents import (
    DOCUMENT_LIST_MEMBERS,
    CapabilityDocument,
)

from .messages import build_document, build_raw_document, get_paths

MISSING = object()


def get_problems(raw):
    problems = Problems()
    CapabilityDocument.parse(raw, problems)
    return problems


@pytest.mark.parametrize("key", ["id", "summary", "outcome"])
@pytest.mark.parametrize("value", ["", " \u3000\n", None, 5, ["a"], MISSING])
def test_id_summary_and_outcome_are_required(key, value):
    incomplete = {
        k: v for k, v in build_raw_document(**{key: value}).items() if v is not MISSING
    }

    assert get_problems(incomplete).errors == [
        Problem(f"$.{key}", "must be a non-empty string")
    ]


def test_unit_separator_is_not_white_space():
    assert build_document(id="\x1f").id == "\x1f"


@pytest.mark.parametrize("value", [[], "a", None, 5, True])
def test_capability_document_that_is_not_an_object_is_an_error(value):
    assert get_problems(value).errors[0] == Problem("$", "must be an object")


@pytest.mark.parametrize("key", ["version", "digest"])
@pytest.mark.parametrize("value", [5, [], {}, False])
def test_version_or_digest_that_is_not_a_string_is_an_error(key, value):
    assert get_problems(build_raw_document(**{key: value})).errors == [
        Problem(f"$.{key}", "must be a string")
    ]


@pytest.mark.parametrize("key", [*DOCUMENT_LIST_MEMBERS, "requirements"])
@pytest.mark.parametrize("value", ["a", 5, {}, False])
def test_document_list_member_that_is_not_a_list_is_an_error(key, value):
    assert get_problems(build_raw_document(**{key: value})).errors == [
        Problem(f"$.{key}", "must be a list of strings")
    ]


@pytest.mark.parametrize("key", [*DOCUMENT_LIST_MEMBERS, "requirements"])
def test_document_list_item_that_is_not_a_string_is_an_error(key):
    problems = get_problems(build_raw_document(**{key: ["a", 1, None, ["b"]]}))

    assert get_paths(problems.errors) == [f"$.{key}[{n}]" for n in (1, 2, 3)]


@pytest.mark.parametrize(
    "key", ["version", "digest", *DOCUMENT_LIST_MEMBERS, "requirements"]
)
def test_null_document_member_equals_missing_member(key):
    assert build_document(**{key: None}) == build_document()


@pytest.mark.parametrize(
    ("requirements", "path"),
    [
        (["a", ""], "$.requirements[1]"),
        ([" \t", "a"], "$.requirements[0]"),
        (["a", "b", " a "], "$.requirements[2]"),
    ],
)
def test_blank_or_repeated_requirement_is_an_error(requirements, path):
    assert get_paths(
        get_problems(build_raw_document(requirements=requirements)).errors
    ) == [path]


def test_every_problem_is_reported_with_path():
    problems = get_problems({"id": 1, "version": 2, "examples": [3], "requirements": 4})

    assert sorted(get_paths(problems.errors)) == [
        "$.examples[0]",
        "$.id",
        "$.outcome",
        "$.requirements",
        "$.summary",
        "$.version",
    ]


def test_problem_paths_start_at_the_given_path():
    problems = Problems()
    CapabilityDocument.parse(build_raw_document(id=""), problems, "$.body.capability")

    assert get_paths(problems.errors) == ["$.body.capability.id"]


@pytest.mark.parametrize("digest", ["sha256:ABC", "md5:0", "sha256:" + "A" * 64])
def test_invalid_digest_is_a_warning_and_not_verified(digest):
    assert get_paths(get_problems(build_raw_document(digest=digest)).warnings) == [
        "$.digest"
    ]
    assert not build_document(digest=digest).is_verified


def test_digest_is_compared_after_trimming():
    digest = build_document().compute_digest()

    assert build_document(digest=f" {digest}\n").is_verified
    assert not build_document(digest=digest.upper()).is_verified
    assert not build_document(digest=digest.removeprefix("sha256:")).is_verified
    assert not build_document().is_verified


@pytest.mark.parametrize("key", ["id", "summary", "outcome", "version"])
def test_changed_member_changes_the_digest(key):
    assert (
        build_document(**{key: "z"}).compute_digest()
        != build_document().compute_digest()
    )


@pytest.mark.parametrize("key", DOCUMENT_LIST_MEMBERS)
def test_descriptive_lists_keep_order_and_duplicates(key):
    document = build_document(**{key: [" b ", "", "a", "b"]})

    assert getattr(document, key) == ("b", "a", "b")
    assert json.loads(document.canonical_json())[key] == ["b", "a", "b"]


def test_lone_surrogate_becomes_replacement_character():
    document = build_document(summary="\ud800 x")

    assert document.summary == "\ufffd x"
    assert "\ufffd x".encode() in document.canonical_json()


def test_control_characters_are_escaped_in_lowercase():
    text = build_document(summary="a\x01\x1b\x7f\b\f/").canonical_json().decode()

    assert r'"a\u0001\u001b' + "\x7f" + r'\b\f/"' in text


def test_canonical_json_parses_to_the_same_members():
    document = build_document(summary='<&>\u2028\u2029"\\', examples=["é"])

    assert json.loads(document.canonical_json()) == {
        "id": "a",
        "summary": '<&>\u2028\u2029"\\',
        "outcome": "A is done.",
        "examples": ["é"],
    }


@pytest.mark.parametrize("digest", [{}, {"digest": None}, {"digest": "sha256:0"}])
def test_wire_format_is_the_received_document_with_its_digest_t20(digest):
    members = {"version": " 1 ", "examples": [" b ", ""], "new": {"x": [1, None]}}
    raw = {"workspace_id": "ws", **build_raw_document(**members), **digest}
    document = CapabilityDocument.parse(raw, Problems())

    assert document.to_wire() == raw | {"digest": document.compute_digest()}


def test_wire_format_of_verified_document_is_unchanged_t20():
    document = build_document(outcome=" Done. ")
    raw = {"digest": f" {document.compute_digest()}\n", **document.raw}

    assert CapabilityDocument.parse(raw, Problems()).to_wire() == raw


def test_wire_format_of_new_document_has_protocol_order():
    document = CapabilityDocument(id="a", summary="A", outcome="Done.", version="1")

    assert list(document.to_wire()) == ["id", "summary", "outcome", "version", "digest"]


def test_unknown_members_do_not_change_the_digest():
    assert build_document(new=1).compute_digest() == build_document().compute_digest()

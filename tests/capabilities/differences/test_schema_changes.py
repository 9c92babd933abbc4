"""Differences of JSON Schemas, and which of them break clients."""

import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capabilities.differences import (
    StepBudget,
    compare_schemas,
    schema_changes,
    schema_reading,
)
from capabilities.differences.changes import canonicalize
from capabilities.differences.schema_changes import OUTPUT_MEMBERS

STRING, INTEGER, NUMBER = ({"type": name} for name in ("string", "integer", "number"))
LANGUAGES = {"type": "string", "enum": ["de", "en"]}
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=15,
)
KEYWORDS = st.sampled_from(
    [
        "$defs",
        "$ref",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "enum",
        "items",
        "minLength",
        "maximum",
        "oneOf",
        "pattern",
        "properties",
        "required",
        "type",
    ]
)
LEAVES = JSON_VALUES | st.sampled_from(["#", "#/$defs/a", "#/properties/a", "string"])
SCHEMAS = st.recursive(
    LEAVES,
    lambda values: (
        st.dictionaries(KEYWORDS | st.sampled_from(["a", "b"]), values)
        | st.lists(values)
    ),
    max_leaves=15,
)


def with_parameters(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


def compare(before, after, **options):
    """Return the reason and whether it is breaking, by path."""
    changes = compare_schemas("schema", before, after, **options)
    return {change.path: (change.reason, change.breaking) for change in changes}


def compare_parameter(before, after):
    schemas = with_parameters(lang=before), with_parameters(lang=after)
    return compare(*schemas).get("lang")


def compare_output(before, after):
    schemas = with_parameters(lang=before), with_parameters(lang=after)
    return compare(*schemas, use=OUTPUT_MEMBERS).get("lang")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (STRING, INTEGER, ("type changed", True)),
        (INTEGER, NUMBER, ("type widened", False)),
        (NUMBER, INTEGER, ("type narrowed", True)),
        (STRING, {"type": ["string", "null"]}, ("type widened", False)),
        ({"type": ["string", "null"]}, STRING, ("type narrowed", True)),
        ({}, STRING, ("type narrowed", True)),
        (STRING, {}, ("type widened", False)),
        (STRING, {"anyOf": [STRING, {"type": "null"}]}, ("type widened", False)),
        ({"anyOf": [STRING, {"type": "null"}]}, STRING, ("type narrowed", True)),
        ({"anyOf": [STRING, INTEGER]}, STRING, ("type narrowed", True)),
        (LANGUAGES, LANGUAGES | {"enum": ["de"]}, ("enum narrowed", True)),
        (LANGUAGES, LANGUAGES | {"enum": ["de", "en", "fr"]}, ("enum widened", False)),
        (LANGUAGES, LANGUAGES | {"enum": ["de", "fr"]}, ("enum changed", True)),
        (STRING, LANGUAGES, ("limited to listed values", True)),
        (LANGUAGES, STRING, ("any value allowed", False)),
        (STRING, STRING | {"minLength": 2}, ("limit tightened: minLength", True)),
        (STRING, STRING | {"minLength": 0}, ("minLength changed", False)),
        (INTEGER | {"maximum": 9}, INTEGER, ("maximum changed", False)),
        (
            INTEGER | {"maximum": 9},
            INTEGER | {"maximum": 5},
            ("limit tightened: maximum", True),
        ),
        (STRING, STRING | {"pattern": "^a"}, ("limit tightened: pattern", True)),
        (STRING, STRING | {"description": "x"}, ("description changed", False)),
        (STRING, STRING | {"x-ui": 1}, ("x-ui changed, compare by hand", False)),
    ],
)
def test_change_of_parameter_is_breaking_if_clients_may_send_less(
    before, after, expected
):
    assert compare_parameter(before, after) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (INTEGER, NUMBER, ("type widened", True)),
        (NUMBER, INTEGER, ("type narrowed", False)),
        (STRING, INTEGER, ("type changed", True)),
        (LANGUAGES, LANGUAGES | {"enum": ["de", "en", "fr"]}, ("enum widened", True)),
        (LANGUAGES, LANGUAGES | {"enum": ["de"]}, ("enum narrowed", False)),
        (LANGUAGES, STRING, ("any value allowed", True)),
        (STRING, STRING | {"minLength": 2}, ("minLength changed", False)),
    ],
)
def test_change_of_output_is_breaking_if_clients_may_receive_more(
    before, after, expected
):
    assert compare_output(before, after) == expected


def test_removed_added_and_required_parameters_t14():
    before = with_parameters(["q"], q=STRING, lang=LANGUAGES, limit=INTEGER)
    after = with_parameters(["q", "limit", "key"], q=STRING, limit=INTEGER, key=STRING)

    assert compare(before, after | {"title": "Search"}) == {
        "": ("title changed", False),
        "lang": ("parameter removed", True),
        "limit": ("became required", True),
        "key": ("new required parameter", True),
    }
    assert compare(after, before) == {
        "lang": ("parameter added", False),
        "limit": ("no longer required", False),
        "key": ("parameter removed", True),
    }


def test_parameter_with_same_schema_and_new_name_is_renamed():
    described = STRING | {"description": "Target language"}
    before = with_parameters(lang=described | {"title": "Lang"}, q=STRING)
    after = with_parameters(language=described | {"title": "Language"}, q=STRING)
    (change,) = compare_schemas("input_schema", before, after)

    assert (change.reason, change.breaking) == ("parameter renamed", True)
    assert (change.before, change.after) == ("lang", "language")


def test_removed_output_member_is_breaking():
    before = with_parameters(["id"], id=STRING, score=NUMBER)
    after = with_parameters(id=STRING, rank=INTEGER)

    assert compare(before, after, use=OUTPUT_MEMBERS) == {
        "id": ("no longer always present", True),
        "score": ("output member removed", True),
        "rank": ("output member added", False),
    }


def test_nested_members_items_and_references_have_paths():
    def build(zip_schema):
        return {
            "properties": {
                "address": {"properties": {"zip": zip_schema}},
                "others": {"items": {"$ref": "#/$defs/address"}},
                "any": {"additionalProperties": {"properties": {"x": zip_schema}}},
            },
            "$defs": {"address": {"properties": {"zip": zip_schema | {"title": "Z"}}}},
        }

    assert compare(build(STRING), build(INTEGER)) == {
        "address.zip": ("type changed", True),
        "others[].zip": ("type changed", True),
        "any.*.x": ("type changed", True),
    }


def test_unions_without_a_clear_difference_are_left_to_people():
    first, second = with_parameters(a=STRING), with_parameters(b=STRING)
    before = {"oneOf": [first, second]}
    after = {"oneOf": [first, with_parameters(c=STRING)]}

    assert compare_parameter(before, after) == (
        "oneOf changed, compare by hand",
        False,
    )


A, B = with_parameters(a=STRING), with_parameters(["b"], b=STRING)
REQUIRED = [{"required": ["a"]}, {"required": ["b"]}]


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize(
    ("before", "after"),
    [([A, B], [A]), ([A], [A, B]), ([A, B, {"type": "null"}], [A, {"type": "null"}])],
)
def test_members_are_not_compared_with_those_of_several_branches_t14(
    keyword, before, after
):
    schemas = [with_parameters(q={keyword: branches}) for branches in (before, after)]

    assert compare(*schemas) == {"q": (f"{keyword} changed, compare by hand", False)}


def test_members_of_schema_with_other_branches_are_left_to_people():
    before = {"properties": {"x": STRING}, "oneOf": [A, B]}
    after = {"oneOf": [branch | {"title": "x"} for branch in (A, B)]}

    assert compare(before, after) == {"": ("oneOf changed, compare by hand", False)}


def test_members_are_compared_if_branches_only_require_them():
    before = {"properties": {"a": STRING, "b": STRING}, "anyOf": REQUIRED}
    after = {"properties": {"a": STRING}}

    assert compare(before, after) == {
        "b": ("parameter removed", True),
        "": ("anyOf changed, compare by hand", False),
    }


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (True, False, ("parameter removed", True)),
        (STRING, False, ("parameter removed", True)),
        (False, True, ("parameter added", False)),
        (False, STRING, ("parameter added", False)),
        (False, {"not": {}}, None),
        (True, {}, None),
    ],
)
def test_parameter_with_schema_false_is_not_accepted_t14(before, after, expected):
    assert compare_parameter(before, after) == expected
    changes = compare_schemas("s", *(with_parameters(q=s) for s in (before, after)))
    if expected:
        assert [(item.before, item.after) for item in changes] == [(before, after)]


def test_parameter_that_is_no_longer_excluded_and_required_is_breaking():
    before, after = with_parameters(q=False), with_parameters(["q"], q=STRING)

    assert compare(before, after) == {"q": ("new required parameter", True)}


def test_excluding_an_undescribed_parameter_is_not_breaking():
    before, after = with_parameters(), with_parameters(q=False)

    assert compare(before, after) == {"q": ("undescribed parameter excluded", False)}
    assert compare(after, before) == {
        "q": ("undescribed parameter no longer excluded", False)
    }


def test_items_with_schema_false_are_not_allowed():
    before, after = ({"items": schema} for schema in (True, False))

    assert compare_parameter(before, after) is None
    assert compare(*(with_parameters(q=schema) for schema in (before, after))) == {
        "q[]": ("values no longer allowed", True)
    }


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, False, ("other parameters changed", False)),
        (STRING, False, ("other parameters removed", True)),
        (False, True, ("other parameters changed", False)),
    ],
)
def test_closing_a_schema_is_breaking_if_other_parameters_were_described(
    before, after, expected
):
    schemas = [
        {"type": "object"} | ({} if value is None else {"additionalProperties": value})
        for value in (before, after)
    ]

    assert compare(*schemas)[""] == expected


@given(JSON_VALUES, JSON_VALUES)
def test_any_two_json_values_can_be_compared(before, after):
    for change in compare_schemas("schema", before, after):
        assert change.to_json()["reason"]


@given(SCHEMAS, SCHEMAS)
def test_malformed_schemas_can_be_compared(before, after):
    compare_schemas("schema", before, after)
    compare_schemas("schema", {"$defs": before, "a": after}, after, OUTPUT_MEMBERS)


@given(SCHEMAS)
def test_schema_does_not_differ_from_itself(schema):
    first, second = ({"$comment": text, "items": schema} for text in "ab")

    assert compare_schemas("schema", schema, schema) == []
    assert compare_schemas("schema", first, second) == []


def build_chain(length, start=""):
    """Return a schema whose definitions refer to each other in a circle."""
    definitions = {
        f"n{index}": {
            "properties": {"next": {"$ref": f"#/$defs/n{(index + 1) % length}"}}
        }
        for index in range(length)
    }
    return {"$ref": "#/$defs/n0", "$defs": definitions, "title": start}


def build_deep(depth, leaf):
    for _ in range(depth):
        leaf = {"type": "object", "properties": {"a": leaf, "b": STRING}}
    return leaf


def build_mesh(length, leaf):
    """Return a schema in which every definition refers to all others."""
    references = {f"n{index}": {"$ref": f"#/$defs/n{index}"} for index in range(length)}
    definition = {"properties": references | {"leaf": leaf}}
    definitions = {name: dict(definition) for name in references}
    return {"properties": references, "$defs": definitions}


def many_properties(schema):
    return with_parameters(**{f"p{index}": schema for index in range(10_000)})


def many_references(schema):
    references = {f"p{index}": {"$ref": "#/$defs/big"} for index in range(10_000)}
    big = {f"k{index}": schema for index in range(10_000)}
    return {"properties": references, "$defs": {"big": big}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (build_chain(997), build_chain(991, "x")),
        (build_deep(60, STRING), build_deep(60, INTEGER)),
        (many_properties(STRING), many_properties(INTEGER)),
        (many_properties(STRING), with_parameters()),
        (many_references(1), many_references(2)),
        (build_mesh(100, STRING), build_mesh(99, INTEGER)),
        ({"$ref": "#"}, {"$ref": "#", "title": "x"}),
        ({"allOf": [{"$ref": "#"}]}, {"anyOf": [{"$ref": "#"}, {"type": "null"}]}),
    ],
    ids=[
        "circles",
        "deep",
        "wide",
        "removed",
        "references",
        "mesh",
        "itself",
        "all of itself",
    ],
)
def test_hostile_schemas_are_compared_in_bounded_time(before, after):
    start = time.process_time()
    assert compare_schemas("schema", before, after)

    assert time.process_time() - start < 5


def test_exponential_schema_is_reported_as_not_compared_completely():
    before = build_mesh(8, STRING)
    reasons = [item.reason for item in compare_schemas("s", before, build_mesh(8, {}))]

    assert "too large to compare completely, compare by hand" in reasons


TOO_LARGE = "too large to compare completely, compare by hand"


def build_references(count, schema):
    references = {f"p{index}": {"$ref": "#/$defs/a"} for index in range(count)}
    return {"properties": references, "$defs": {"a": schema}}


def build_alternatives(count, schema):
    branches = [{"$ref": "#/$defs/a"}] * count
    return {"properties": {"p": {"anyOf": branches}}, "$defs": {"a": schema}}


@pytest.mark.parametrize(
    "build",
    [
        lambda values: build_references(400, {"enum": values}),
        lambda values: build_alternatives(90, {"enum": values}),
        lambda values: build_references(
            400, {"properties": {f"a{values[0]}": {"enum": values}}}
        ),
    ],
    ids=["values", "alternatives", "renamed"],
)
def test_referenced_values_are_read_as_often_as_the_steps_allow(build, monkeypatch):
    read = []

    def count(value):
        read.append(len(str(value)))
        return canonicalize(value)

    for module in (schema_changes, schema_reading):
        monkeypatch.setattr(module, "canonicalize", count)
    before, after = build(list(range(5000))), build(list(range(1, 5001)))
    changes = compare_schemas("schema", before, after)

    assert sum(read) < 1_000_000
    assert TOO_LARGE in [change.reason for change in changes]


def test_equal_values_of_references_are_compared_as_often_as_the_steps_allow():
    budget = StepBudget()
    before = build_references(400, {"examples": [[]] * 5000})
    after = build_references(400, {"examples": [[]] * 5000 + [1]})
    changes = compare_schemas("schema", before, after, budget=budget)

    assert [change.reason for change in changes][-1] == TOO_LARGE
    assert len(changes) < 20


def test_alternatives_are_read_without_keeping_copies():
    large = STRING | {f"x-{index}": 1 for index in range(1000)}
    before, after = (build_alternatives(1000, large | {"x": n}) for n in (1, 2))
    tracemalloc.start()
    compare_schemas("schema", before, after)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 2_000_000


def test_types_of_many_alternatives_are_read_up_to_a_limit():
    before = build_alternatives(schema_reading.BRANCH_LIMIT, STRING)
    after = build_alternatives(schema_reading.BRANCH_LIMIT, INTEGER)
    assert compare(before, after)["p"] == ("type changed", True)

    before = build_alternatives(schema_reading.BRANCH_LIMIT + 1, STRING)
    after = build_alternatives(schema_reading.BRANCH_LIMIT + 1, INTEGER)
    assert compare(before, after) == {}


def test_schemas_share_a_budget():
    before, after = (with_parameters(a=schema) for schema in (STRING, INTEGER))
    budget = StepBudget(75)
    reasons = [
        [item.reason for item in compare_schemas("s", before, after, budget=budget)]
        for _ in range(3)
    ]

    assert reasons == [["type changed"], [TOO_LARGE], [TOO_LARGE]]

"""Changes of capabilities by the rules of their kinds."""

import pytest

from capabilities.differences import (
    compare_agents,
    compare_capabilities,
    describe_agent,
    find_new_demand,
    find_removal_reason,
)
from capabilities.records import AgentRecord, ProviderRecord

READ, WRITE = {"oauth": ["read"]}, {"oauth": ["read", "write"]}


def compare(kind, before, after, name="x"):
    """Return field, path, reason and whether it is breaking, of each change."""
    changes = compare_capabilities(kind, name, ("", before), ("", after))
    return [
        (change.field, change.path, change.reason, change.breaking)
        for change in changes
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (True, False, ("feature lost", True)),
        (True, None, ("feature lost", True)),
        (False, True, ("feature gained", False)),
        (None, True, ("feature gained", False)),
        (10, 5, ("feature lost", True)),
        (5, 10, ("changed", False)),
        (["a", "b"], ["b"], ("feature lost", True)),
        (["a"], ["b", "a"], ("changed", False)),
        ("https://a.example", "https://b.example", ("changed", False)),
    ],
)
def test_lost_feature_is_breaking_t14(before, after, expected):
    ((_, _, *change),) = compare(
        "agent.feature", {"value": before}, {"value": after}, "transport.streaming"
    )

    assert tuple(change) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([READ], [READ, {"key": []}], ("requirements changed", False)),
        ([READ], [WRITE], ("more credentials required", True)),
        ([WRITE], [READ], ("requirements changed", False)),
        ([READ, {"key": []}], [READ], ("more credentials required", True)),
        ([READ], [{}], ("requirements changed", False)),
        ([], [READ], ("credentials required", True)),
        ([READ], [], ("no longer required", False)),
        ([READ], [{"oauth": "?"}], ("changed, compare by hand", False)),
        ([READ], [READ] * 101, ("changed, compare by hand", False)),
    ],
)
def test_requirements_that_clients_do_not_fulfill_are_breaking(before, after, expected):
    ((_, _, *change),) = compare(
        "agent.feature", {"value": before}, {"value": after}, "security.requirements"
    )

    assert tuple(change) == expected


def test_removed_modes_of_skill_are_breaking_and_tags_are_not():
    before = {"tags": ["a"], "input_modes": ["text/plain", "image/png"]}
    after = {"tags": ["b"], "input_modes": ["text/plain"]}

    assert compare("a2a.skill", before, after) == [
        ("input_modes", "", "values removed", True),
        ("tags", "", "changed", False),
    ]


def test_changed_arguments_of_prompt_are_compared_by_name():
    before = [{"name": "topic"}, {"name": "tone", "description": "Old"}]
    after = [
        {"name": "tone", "description": "New", "required": True},
        {"name": "style", "required": True, "description": "Any"},
    ]

    assert compare("mcp.prompt", {"arguments": before}, {"arguments": after}) == [
        ("arguments", "topic", "argument removed", True),
        ("arguments", "tone", "became required", True),
        ("arguments", "style", "new required argument", True),
        ("arguments", "tone", "description changed", False),
    ]


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("mcp.resource", "uri"),
        ("mcp.resource", "uri_template"),
        ("a2a.interface", "binding"),
        ("a2a.security_scheme", "parameter_name"),
    ],
)
def test_changed_address_or_scheme_is_breaking(kind, field):
    assert compare(kind, {field: "a"}, {field: "b"}) == [(field, "", "changed", True)]
    assert compare(kind, {field: ""}, {field: "b"}) == [(field, "", "changed", False)]


def test_removed_flow_and_scope_are_breaking():
    code = {"tokenUrl": "https://a.example", "scopes": {"read": "", "write": ""}}
    before = {"flows": {"code": code, "device": {}}}
    after = {"flows": {"code": code | {"scopes": {"read": "", "all": ""}}}}

    assert compare("a2a.security_scheme", before, after) == [
        ("flows", "code.scopes.write", "removed", True),
        ("flows", "device", "removed", True),
        ("flows", "code.scopes.all", "added", False),
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"code": {}}, None, [("flows", "", "removed", True)]),
        ({"code": {}}, "x", [("flows", "", "changed", True)]),
        ({"code": {"a": ""}}, {"code": "x"}, [("flows", "code", "changed", True)]),
        (["code"], {"code": {}}, [("flows", "", "changed", True)]),
        ({}, None, [("flows", "", "removed", False)]),
        (None, {"code": {}}, [("flows", "", "added", False)]),
    ],
)
def test_loss_of_all_flows_is_breaking(before, after, expected):
    schemes = {"flows": before}, {"flows": after}

    assert compare("a2a.security_scheme", *schemes) == expected


def test_schema_that_is_no_longer_declared():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    before = {"input_schema": schema, "output_schema": schema}

    assert compare("mcp.tool", before, {}) == [
        ("output_schema", "", "schema removed", True),
        ("input_schema", "", "schema removed", False),
    ]
    assert compare("mcp.tool", {}, before) == [
        ("input_schema", "a", "parameter added", False),
        ("output_schema", "", "schema added", False),
    ]


def test_changed_list_with_the_same_items_is_reported():
    before, after = {"input_modes": ["a", "b"]}, {"input_modes": ["b", "a"]}

    assert compare("a2a.skill", before, after) == [
        ("input_modes", "", "changed", False)
    ]


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf", "x-unused"])
def test_schema_changed_in_unresolved_definition_is_left_to_people(keyword):
    def build(schema):
        branches = [{"$ref": "#/$defs/a"}, {"title": "b"}, {"title": "c"}]
        return {"parameters": {"$defs": {"a": schema}, keyword: branches}}

    before, after = build({"required": []}), build({"required": ["a"]})

    assert compare("agui.tool", before, after) == [
        ("parameters", "", "schema changed, compare by hand", False)
    ]


def test_derived_properties_are_left_out_and_members_of_unknown_kinds_compared():
    assert compare("agh.capability", {"text": "a"}, {"text": "b"}) == []
    assert compare("future.kind", {"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}) == [
        ("a", "b", "changed", False),
        ("a", "c", "removed", False),
    ]


@pytest.mark.parametrize(
    ("kind", "name", "properties", "expected"),
    [
        ("a2a.extension", "x", {"required": True}, "new and required"),
        ("a2a.extension", "x", {"required": False}, ""),
        ("agent.feature", "security.requirements", {"value": [READ]}, "credentials"),
        ("mcp.tool", "x", {"input_schema": {"required": ["a"]}}, ""),
    ],
)
def test_new_capability_can_demand_something_of_clients(
    kind, name, properties, expected
):
    reason = find_new_demand(kind, name, properties)

    assert reason.startswith(expected)
    assert bool(reason) == bool(expected)


@pytest.mark.parametrize(
    ("kind", "properties", "expected"),
    [
        ("mcp.prompt", {}, "removed"),
        ("a2a.signature", {}, ""),
        ("agent.feature", {"value": True}, "feature lost"),
        ("agent.feature", {"value": False}, ""),
        ("future.kind", {}, ""),
    ],
)
def test_removed_capability_is_breaking_if_clients_rely_on_it(
    kind, properties, expected
):
    assert find_removal_reason(kind, "x", properties) == expected


def test_long_values_are_shortened_with_their_length():
    before, after = {"title": "a" * 600}, {"title": ["b" * 600]}
    (change,) = compare_capabilities("mcp.tool", "x", ("", before), ("", after))

    assert change.to_json() == {
        "field": "title",
        "path": "",
        "from": "a" * 500 + "… (600 characters)",
        "to": '["' + "b" * 498 + "… (604 characters)",
        "breaking": False,
        "reason": "changed",
    }


def test_fields_of_agent_are_compared_member_by_member():
    before = AgentRecord(protocol="a2a", endpoint="https://a.example", version="1.2.0")
    after = AgentRecord(
        protocol="a2a",
        endpoint="https://a.example",
        version="1.3.0",
        provider=ProviderRecord("Acme"),
    )
    changes = compare_agents(describe_agent(before), describe_agent(after))

    assert [(change.field, change.before, change.reason) for change in changes] == [
        ("version", "1.2.0", "changed"),
        ("provider", None, "added"),
    ]

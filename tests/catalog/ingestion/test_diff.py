"""What a new definition changes: in limited size, and what breaks clients."""

import json
import time

import pytest

from catalog.api.changes import ChangesSerializer
from catalog.ingestion import diff
from catalog.ingestion.diff import DETAIL_BYTES_LIMIT, FIELD_CHANGE_LIMIT
from catalog.ingestion.event_details import EVENT_BYTES_LIMIT, EVENT_CHANGE_LIMIT
from catalog.models import DefinitionChange
from catalog.registration.service import register
from tests.factories import card_bytes, skill
from tests.registered_agents import mcp_definition

pytestmark = pytest.mark.django_db


def register_tool(schema, **members):
    """Register a server with one tool that has this input schema."""
    tool = {"name": "search", "inputSchema": schema} | members
    document = mcp_definition("Stacks", tools=[tool])
    return register(json.dumps(document).encode())


def parameters(*required, **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


def test_changed_schema_is_stored_with_what_breaks_clients_t14():
    text = {"type": "string"}
    register_tool(parameters(lang=text, limit=text))
    register_tool(parameters("key", limit={"type": "integer"}, key=text))

    change = DefinitionChange.objects.get(breaking=True)
    (tool,) = change.changed
    assert (tool["kind"], tool["name"], tool["omitted"]) == ("mcp.tool", "search", 0)
    assert tool["changes"][1] == {
        "field": "input_schema",
        "path": "limit",
        "from": "string",
        "to": "integer",
        "breaking": True,
        "reason": "type changed",
    }
    assert change.breaking_reasons == [
        "MCP Tool search: parameter renamed (lang)",
        "MCP Tool search: type changed (limit)",
    ]


def test_change_of_version_and_texts_is_stored_and_not_breaking_t14():
    register(card_bytes(version="1.2.0", description="Old"))
    result = register(card_bytes(version="1.3.0", description="New"))

    change = DefinitionChange.objects.get()
    assert [(item["field"], item["from"], item["to"]) for item in change.fields] == [
        ("version", "1.2.0", "1.3.0"),
        ("description", "Old", "New"),
    ]
    assert (change.breaking, change.total_breaking) == (False, 0)
    assert result.changes.fields == change.fields


def test_name_is_compared_with_definition_and_not_with_edited_name():
    entry = register(card_bytes(name="Old")).entry
    type(entry).objects.update(display_name="Edited")
    register(card_bytes(name="New"))

    (item,) = DefinitionChange.objects.get().fields
    assert (item["field"], item["from"], item["to"]) == ("display_name", "Old", "New")


def test_new_requirement_and_lost_streaming_break_clients_t14():
    register(card_bytes())
    scheme = {"bearer": {"httpAuthSecurityScheme": {"scheme": "bearer"}}}
    result = register(
        card_bytes(
            capabilities={"streaming": False},
            securitySchemes=scheme,
            securityRequirements=[{"schemes": {"bearer": {"list": []}}}],
        )
    )

    assert result.changes.breaking_reasons == [
        "Feature security.requirements: credentials required",
        "Feature transport.streaming: feature lost",
    ]
    (added,) = (item for item in result.changes.added if item.get("breaking"))
    assert added["name"] == "security.requirements"


def test_change_recorded_without_details_is_judged_by_kinds():
    removed = [
        {"kind": "a2a.skill", "name": "x"},
        {"kind": "agent.feature", "name": "y"},
    ]
    change = DefinitionChange(removed=removed)

    assert change.total_breaking == 1


def test_details_of_5000_changed_capabilities_are_limited():
    def build(text):
        skills = [
            {"id": f"{n}", "name": f"{n}", "description": text * 20, "tags": [text]}
            for n in range(4990)
        ]
        skills[4321] |= {"inputModes": ["a"] if text == "x" else ["b"]}
        return card_bytes(skills=skills)

    register(build("x"))
    result = register(build("ä"))

    changes = result.changes
    details = [detail for item in changes.changed for detail in item["changes"]]
    omitted = sum(item["omitted"] for item in changes.changed)
    assert len(changes.changed) == 4990
    assert len(details) <= FIELD_CHANGE_LIMIT
    assert len(details) + omitted == 2 * 4990 + 1
    assert len(json.dumps(details)) < DETAIL_BYTES_LIMIT + 10_000
    (breaking,) = (detail for detail in details if detail["breaking"])
    assert breaking["field"] == "input_modes"
    assert changes.breaking_reasons == ["A2A Skill 4321: values changed (input modes)"]
    assert changes.total_breaking == 1


def test_long_values_stay_within_the_limit_of_bytes(monkeypatch):
    monkeypatch.setattr(diff, "DETAIL_BYTES_LIMIT", 3000)
    skills = [skill(f"Task {n}", description="x" * 5000) for n in range(9)]
    register(card_bytes(skills=skills))
    skills = [skill(f"Task {n}", description="y" * 5000) for n in range(9)]
    changes = register(card_bytes(skills=skills)).changes

    details = [detail for item in changes.changed for detail in item["changes"]]
    assert len(details) == 2
    assert details[0]["from"] == "x" * 500 + "… (5,000 characters)"
    assert sum(item["omitted"] for item in changes.changed) == 7


def test_hostile_schemas_are_compared_in_bounded_time():
    def build(leaf):
        """Return tools in whose schemas all definitions refer to each other."""
        names = [f"d{n}" for n in range(5)]
        references = {name: {"$ref": f"#/$defs/{name}"} for name in names}
        node = {"properties": references | {"x": leaf}}
        schema = {"properties": references, "$defs": dict.fromkeys(names, node)}
        return [{"name": f"t{n}", "inputSchema": schema} for n in range(700)]

    def register_tools(leaf):
        document = mcp_definition("Stacks", tools=build(leaf))
        raw = json.dumps(document, separators=(",", ":")).encode()
        assert len(raw) < 1_048_576
        return register(raw)

    register_tools({"type": "string"})
    start = time.process_time()
    result = register_tools({"type": "integer"})

    assert len(result.changes.changed) == 700
    assert time.process_time() - start < 15
    # All tools share the steps, so that the last ones are not compared.
    last = result.changes.changed[-1]
    assert len(last["changes"]) + last["omitted"] == 1


def test_event_has_changes_as_the_api_breaking_ones_first_t14():
    text, number = {"type": "string"}, {"type": "integer"}
    register_tool(parameters(limit=text), description="Find a book")
    result = register_tool(parameters(limit=number), description="Find books")
    summary = result.changes.summary

    (tool,) = ChangesSerializer(result.changes).data["changed"]
    key = {"kind": "mcp.tool", "name": "search"}
    assert list(summary.details) == [key | change for change in tool["changes"]]
    assert [change["field"] for change in summary.details] == [
        "inputSchema",
        "description",
    ]
    assert summary.omitted == 0


@pytest.mark.parametrize("count", [EVENT_CHANGE_LIMIT, 300])
def test_event_has_limited_number_of_changes(count):
    before, after = (
        parameters(**{f"p{index}": {"type": name} for index in range(count)})
        for name in ("string", "integer")
    )
    register_tool(before)
    summary = register_tool(after).changes.summary

    assert len(summary.details) == EVENT_CHANGE_LIMIT
    assert summary.omitted == count - EVENT_CHANGE_LIMIT


def test_event_has_limited_size():
    register_tool(parameters(a={"type": "string", "enum": ["a"]}))
    values = [chr(0x1F600) * 490, "b"]
    properties = {f"p{index}": {"enum": values} for index in range(9)}
    summary = register_tool(parameters(**properties)).changes.summary

    size = sum(len(json.dumps(change)) for change in summary.details)
    assert 0 < size <= EVENT_BYTES_LIMIT
    assert len(summary.details) + summary.omitted == 10
    assert summary.details[0]["breaking"]

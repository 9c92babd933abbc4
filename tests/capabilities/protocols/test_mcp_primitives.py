import pytest

from capabilities.protocols.mcp import MCPParser
from capabilities.protocols.mcp.records import MCPPrompt, MCPResource, MCPTool

from .mcp_reading import card, errors, offers, sample, warnings


def test_a_tool_keeps_its_schemas_and_hints():
    forecast, warn = offers(sample("introspection"), "mcp.tool")

    assert forecast.description == "Wind and sea for a position"
    assert forecast.properties == {
        "title": "Marine forecast",
        "input_schema": sample("introspection")["tools"][0]["inputSchema"],
        "output_schema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
    }
    assert warn.properties == {
        "title": "Gale warning",
        "input_schema": {},
        "annotations": {"title": "Gale warning"},
    }


def test_a_resource_and_a_template_are_told_apart():
    synopsis, station = offers(sample("introspection"), "mcp.resource")

    assert synopsis.properties == {
        "uri": "weather://synopsis",
        "mime_type": "text/plain",
        "size": 2048,
        "title": "Synopsis",
    }
    assert station.properties == {
        "uri_template": "weather://station/{id}",
        "template": True,
        "mime_type": "application/json",
    }


def test_a_template_among_the_resources_is_a_template():
    (found,) = offers(
        card(resources=[{"name": "log", "uriTemplate": "log://{day}"}]), "mcp.resource"
    )

    assert found.template is True
    assert found.uri_template == "log://{day}"


def test_a_prompt_keeps_its_arguments():
    (prompt,) = offers(sample("introspection"), "mcp.prompt")

    assert prompt.description == "Plan a passage around the weather"
    assert prompt.properties == {
        "title": "Passage plan",
        "arguments": [
            {"name": "from", "required": True},
            {"name": "to", "required": True},
        ],
    }


@pytest.mark.parametrize(
    "record",
    [
        MCPTool(name="bare"),
        MCPTool(
            name="full",
            description="All of it",
            title="Full",
            input_schema={"type": "object"},
            output_schema={},
            annotations={"readOnlyHint": True},
        ),
        MCPResource(name="chart", uri="harbour://chart", size=0, mime_type="image/png"),
        MCPResource(name="log", uri_template="log://{day}", template=True, title="Log"),
        MCPPrompt(name="plan", arguments=[{"name": "from"}], title="Plan"),
        MCPPrompt(name="bare", arguments=[]),
    ],
)
def test_a_record_comes_back_from_what_is_stored(record):
    again = type(record).from_stored(record.name, record.description, record.properties)

    assert again == record


def test_unset_properties_are_left_out():
    assert MCPTool(name="bare").properties == {}
    assert MCPResource(name="bare").properties == {}
    assert MCPPrompt(name="bare").properties == {}


def test_all_kinds_are_discoverable_and_hold_their_records():
    held = {kind.slug: (kind.label, kind.record) for kind in MCPParser.kinds}

    assert held == {
        "mcp.tool": ("MCP Tool", MCPTool),
        "mcp.resource": ("MCP Resource", MCPResource),
        "mcp.prompt": ("MCP Prompt", MCPPrompt),
    }
    assert all(kind.discoverable for kind in MCPParser.kinds)
    assert all(kind.slug == kind.record.kind for kind in MCPParser.kinds)


def test_the_second_tool_of_a_name_is_numbered():
    tool = {"name": "forecast", "inputSchema": {"type": "object"}}
    document = card(tools=[tool, tool])

    assert [each.name for each in offers(document, "mcp.tool")] == [
        "forecast",
        "forecast (2)",
    ]
    assert warnings(document) == ["$.tools[1]"]


def test_resources_of_one_name_are_told_apart_by_their_address():
    document = card(
        resources=[
            {"name": "log", "uri": "log://1"},
            {"name": "log", "uri": "log://2"},
        ],
        resourceTemplates=[{"name": "log", "uriTemplate": "log://{day}"}],
    )

    assert [each.name for each in offers(document, "mcp.resource")] == [
        "log",
        "log (log://2)",
        "log (log://{day})",
    ]


@pytest.mark.parametrize("key", ["tools", "resources", "resourceTemplates", "prompts"])
def test_something_without_a_name_is_an_error_at_its_path(key):
    assert f"$.{key}[0].name" in errors(card(**{key: [{}]}))
    assert f"$.{key}[0].name" in errors(card(**{key: [{"name": " "}]}))
    assert f"$.{key}[0].name" in errors(card(**{key: [{"name": 7}]}))


@pytest.mark.parametrize("key", ["tools", "resources", "resourceTemplates", "prompts"])
@pytest.mark.parametrize("value", [{}, "many", 3, True])
def test_a_list_that_is_none_is_an_error(key, value):
    assert errors(card(**{key: value})) == [f"$.{key}"]


@pytest.mark.parametrize("key", ["tools", "resources", "resourceTemplates", "prompts"])
def test_an_item_that_is_no_object_is_an_error(key):
    assert errors(card(**{key: ["forecast", None]})) == [f"$.{key}[0]", f"$.{key}[1]"]


def test_a_tool_without_a_schema_is_a_warning():
    assert warnings(card(tools=[{"name": "forecast"}])) == ["$.tools[0].inputSchema"]


def test_schemas_and_hints_that_are_no_objects_are_ignored_with_a_warning():
    tool = {"name": "x", "inputSchema": True, "outputSchema": [], "annotations": "safe"}
    document = card(tools=[tool])

    assert sorted(warnings(document)) == [
        "$.tools[0].annotations",
        "$.tools[0].inputSchema",
        "$.tools[0].outputSchema",
    ]
    assert offers(document, "mcp.tool")[0].properties == {}


def test_a_resource_without_a_name_goes_by_its_title_then_its_address():
    document = card(
        resources=[
            {"title": "Chart", "uri": "harbour://chart"},
            {"uri": "harbour://log"},
        ],
        resourceTemplates=[{"uriTemplate": "log://{day}"}],
    )

    assert [each.name for each in offers(document, "mcp.resource")] == [
        "Chart",
        "harbour://log",
        "log://{day}",
    ]
    assert warnings(document) == [
        "$.resources[0].name",
        "$.resources[1].name",
        "$.resourceTemplates[0].name",
    ]


def test_a_resource_without_an_address_is_a_warning():
    document = card(resources=[{"name": "chart"}])

    assert warnings(document) == ["$.resources[0]"]
    assert offers(document, "mcp.resource")[0].disambiguated_name() == "chart"


@pytest.mark.parametrize("size", ["2 kB", -1, 1.5, True, []])
def test_a_size_that_counts_no_bytes_is_ignored_with_a_warning(size):
    document = card(resources=[{"name": "chart", "uri": "a:b", "size": size}])

    assert warnings(document) == ["$.resources[0].size"]
    assert offers(document, "mcp.resource")[0].size is None


def test_arguments_that_are_no_objects_are_ignored_with_a_warning():
    document = card(
        prompts=[
            {"name": "plan", "arguments": ["from", {"name": "to"}]},
            {"name": "log", "arguments": {"day": "string"}},
        ]
    )

    assert warnings(document) == ["$.prompts[0].arguments[0]", "$.prompts[1].arguments"]
    plan, log = offers(document, "mcp.prompt")
    assert plan.arguments == [{"name": "to"}]
    assert log.arguments is None

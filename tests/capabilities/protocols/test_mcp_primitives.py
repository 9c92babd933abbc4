import pytest

from capabilities.protocols.mcp import MCPParser
from capabilities.protocols.mcp.records import MCPPrompt, MCPResource, MCPTool

from .mcp_documents import (
    build_server,
    get_capabilities,
    get_error_paths,
    get_names,
    get_warning_paths,
    load_sample,
)


def test_tool_keeps_schemas_and_annotations():
    forecast, warn = get_capabilities(load_sample("introspection"), "mcp.tool")

    assert forecast.description == "Wind and sea for a position"
    assert forecast.properties == {
        "title": "Marine forecast",
        "input_schema": load_sample("introspection")["tools"][0]["inputSchema"],
        "output_schema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
    }
    assert warn.properties == {
        "title": "Gale warning",
        "input_schema": {},
        "annotations": {"title": "Gale warning"},
    }


def test_execution_icons_and_meta_are_stored_t15():
    icons = [{"src": "https://desk.example/icon.png", "sizes": ["48x48"]}]
    common = {"name": "x", "icons": icons, "_meta": {"desk.example/tier": "free"}}
    annotations = {"audience": ["user"], "priority": 0.5}
    document = build_server(
        tools=[{**common, "inputSchema": {}, "execution": {"taskSupport": "optional"}}],
        resources=[{**common, "uri": "a:b", "annotations": annotations}],
        resourceTemplates=[{**common, "name": "y", "uriTemplate": "a:{b}"}],
        prompts=[common],
    )
    stored = {"icons": icons, "meta": {"desk.example/tier": "free"}}

    assert get_warning_paths(document) == []
    (tool,) = get_capabilities(document, "mcp.tool")
    resource, template = get_capabilities(document, "mcp.resource")
    (prompt,) = get_capabilities(document, "mcp.prompt")
    assert tool.properties == {
        "input_schema": {},
        "execution": {"taskSupport": "optional"},
        **stored,
    }
    assert resource.properties == {"uri": "a:b", "annotations": annotations, **stored}
    assert template.properties == {"uri_template": "a:{b}", "template": True, **stored}
    assert prompt.properties == stored


def test_unknown_members_of_mcp_items_are_warnings():
    item = {"name": "x", "uri": "a:b", "inputSchema": {}, "cost": 5}
    for key in ("tools", "resources", "resourceTemplates", "prompts"):
        paths = get_warning_paths(build_server(**{key: [item]}))
        assert f"$.{key}[0].cost" in paths


def test_resource_and_template_have_their_own_properties():
    synopsis, station = get_capabilities(load_sample("introspection"), "mcp.resource")

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


def test_template_listed_as_resource_is_a_template():
    (template,) = get_capabilities(
        build_server(resources=[{"name": "log", "uriTemplate": "log://{day}"}]),
        "mcp.resource",
    )

    assert template.template is True
    assert template.uri_template == "log://{day}"


def test_prompt_keeps_its_arguments():
    (prompt,) = get_capabilities(load_sample("introspection"), "mcp.prompt")

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
        MCPTool(name="minimal"),
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
        MCPPrompt(name="minimal", arguments=[]),
    ],
)
def test_mcp_record_survives_storage_round_trip(record):
    restored = type(record).from_stored(
        record.name, record.description, record.properties
    )

    assert restored == record


def test_unset_properties_are_omitted():
    assert MCPTool(name="minimal").properties == {}
    assert MCPResource(name="minimal").properties == {}
    assert MCPPrompt(name="minimal").properties == {}


def test_kinds_are_discoverable_and_have_record_classes():
    kinds = {kind.slug: (kind.label, kind.record_class) for kind in MCPParser.kinds}

    assert kinds == {
        "mcp.tool": ("MCP Tool", MCPTool),
        "mcp.resource": ("MCP Resource", MCPResource),
        "mcp.prompt": ("MCP Prompt", MCPPrompt),
    }
    assert all(kind.discoverable for kind in MCPParser.kinds)
    assert all(kind.slug == kind.record_class.kind for kind in MCPParser.kinds)


def test_second_mcp_tool_of_same_name_is_numbered():
    tool = {"name": "forecast", "inputSchema": {"type": "object"}}
    document = build_server(tools=[tool, tool])

    assert get_names(document, "mcp.tool") == [
        "forecast",
        "forecast (2)",
    ]
    assert get_warning_paths(document) == ["$.tools[1]"]


def test_resources_of_same_name_get_uri_in_name():
    document = build_server(
        resources=[
            {"name": "log", "uri": "log://1"},
            {"name": "log", "uri": "log://2"},
        ],
        resourceTemplates=[{"name": "log", "uriTemplate": "log://{day}"}],
    )

    assert get_names(document, "mcp.resource") == [
        "log",
        "log (log://2)",
        "log (log://{day})",
    ]


@pytest.mark.parametrize("key", ["tools", "resources", "resourceTemplates", "prompts"])
def test_item_without_name_is_an_error_with_path(key):
    assert f"$.{key}[0].name" in get_error_paths(build_server(**{key: [{}]}))
    assert f"$.{key}[0].name" in get_error_paths(build_server(**{key: [{"name": " "}]}))
    assert f"$.{key}[0].name" in get_error_paths(build_server(**{key: [{"name": 7}]}))


@pytest.mark.parametrize("key", ["tools", "resources", "resourceTemplates", "prompts"])
@pytest.mark.parametrize("value", [{}, "many", 3, True])
def test_list_of_wrong_type_is_an_error(key, value):
    assert get_error_paths(build_server(**{key: value})) == [f"$.{key}"]


@pytest.mark.parametrize("key", ["tools", "resources", "resourceTemplates", "prompts"])
def test_item_that_is_not_an_object_is_an_error(key):
    assert get_error_paths(build_server(**{key: [5, None]})) == [
        f"$.{key}[0]",
        f"$.{key}[1]",
    ]


def test_items_listed_by_name_are_read_with_a_warning():
    document = build_server(tools=["forecast", "warn"], prompts=["plan"])

    assert get_names(document, "mcp.tool") == ["forecast", "warn"]
    assert get_names(document, "mcp.prompt") == ["plan"]
    assert {"$.tools[0]", "$.tools[1]", "$.prompts[0]"} <= {
        *get_warning_paths(document)
    }


def test_tool_without_input_schema_is_a_warning():
    assert get_warning_paths(build_server(tools=[{"name": "forecast"}])) == [
        "$.tools[0].inputSchema"
    ]


def test_invalid_schemas_and_annotations_are_ignored_with_warnings():
    tool = {"name": "x", "inputSchema": True, "outputSchema": [], "annotations": "safe"}
    document = build_server(tools=[tool])

    assert sorted(get_warning_paths(document)) == [
        "$.tools[0].annotations",
        "$.tools[0].inputSchema",
        "$.tools[0].outputSchema",
    ]
    assert get_capabilities(document, "mcp.tool")[0].properties == {}


def test_resource_without_name_is_named_by_title_or_uri():
    document = build_server(
        resources=[
            {"title": "Chart", "uri": "harbour://chart"},
            {"uri": "harbour://log"},
        ],
        resourceTemplates=[{"uriTemplate": "log://{day}"}],
    )

    assert get_names(document, "mcp.resource") == [
        "Chart",
        "harbour://log",
        "log://{day}",
    ]
    assert get_warning_paths(document) == [
        "$.resources[0].name",
        "$.resources[1].name",
        "$.resourceTemplates[0].name",
    ]


def test_resource_without_uri_is_a_warning():
    document = build_server(resources=[{"name": "chart"}])

    assert get_warning_paths(document) == ["$.resources[0]"]
    assert get_capabilities(document, "mcp.resource")[0].disambiguated_name() == "chart"


@pytest.mark.parametrize("size", ["2 kB", -1, 1.5, True, []])
def test_invalid_resource_size_is_ignored_with_a_warning(size):
    document = build_server(resources=[{"name": "chart", "uri": "a:b", "size": size}])

    assert get_warning_paths(document) == ["$.resources[0].size"]
    assert get_capabilities(document, "mcp.resource")[0].size is None


def test_invalid_prompt_arguments_are_ignored_with_a_warning():
    document = build_server(
        prompts=[
            {"name": "plan", "arguments": ["from", {"name": "to"}]},
            {"name": "log", "arguments": {"day": "string"}},
        ]
    )

    assert get_warning_paths(document) == [
        "$.prompts[0].arguments[0]",
        "$.prompts[1].arguments",
    ]
    plan, log = get_capabilities(document, "mcp.prompt")
    assert plan.arguments == [{"name": "to"}]
    assert log.arguments is None

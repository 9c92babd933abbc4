import pytest

from capabilities.features import AgentFeature

from .mcp_documents import (
    build_server,
    get_capabilities,
    get_features,
    get_warning_paths,
    load_sample,
)

HOME_URL = "https://home.example"


def test_mcp_capability_flags_become_features():
    flags = {"tools": True, "resources": False, "prompts": {}, "tasks": {"list": {}}}

    assert get_features(build_server(capabilities=flags)) == {
        "tools.supported": True,
        "mcp.resources": False,
        "mcp.prompts": True,
        "mcp.tasks": True,
    }


def test_nested_capability_flags_become_features():
    assert get_features(load_sample("introspection")) == {
        "tools.supported": True,
        "mcp.tools.listChanged": True,
        "mcp.resources": True,
        "mcp.resources.listChanged": True,
        "mcp.resources.subscribe": False,
        "mcp.prompts": True,
        "mcp.completions": True,
    }


def test_null_flags_are_not_features():
    assert (
        get_features(build_server(capabilities={"tools": None, "prompts": None})) == {}
    )


@pytest.mark.parametrize("capabilities", [{}, {"tools": None}, {"tools": 5}, None, 5])
def test_listed_tools_imply_tools_supported(capabilities):
    tools = [{"name": "x", "inputSchema": {}}]

    assert get_features(build_server(tools=tools, capabilities=capabilities)) == {
        "tools.supported": True
    }


def test_tools_flag_false_overrides_listed_tools():
    tools = [{"name": "x", "inputSchema": {}}]

    assert get_features(build_server(tools=tools, capabilities={"tools": False})) == {
        "tools.supported": False
    }


def test_mcp_documentation_url_becomes_a_feature():
    document = build_server(documentationUrl="https://d.example/docs")

    assert get_features(document) == {
        "identity.documentationUrl": "https://d.example/docs"
    }
    assert get_features(build_server(documentationUrl="javascript:1")) == {}


@pytest.mark.parametrize(
    "members",
    [
        {"websiteUrl": HOME_URL},
        {"homepage": HOME_URL},
        {"serverInfo": {"name": "desk", "websiteUrl": HOME_URL}},
        {"websiteUrl": HOME_URL, "homepage": "https://other.example"},
        {"documentationUrl": "javascript:1", "websiteUrl": HOME_URL},
    ],
)
def test_documentation_url_falls_back_to_website(members):
    assert get_features(build_server(**members)) == {
        "identity.documentationUrl": HOME_URL
    }


def test_feature_has_path_of_its_flag():
    (feature,) = get_capabilities(
        build_server(capabilities={"tools": False}), "agent.feature"
    )

    assert feature == AgentFeature(name="tools.supported", value=False)
    assert feature.path == "$.capabilities.tools"


@pytest.mark.parametrize(
    ("flags", "path"),
    [
        (["tools"], "$.capabilities"),
        (True, "$.capabilities"),
        ({"tools": ["forecast"]}, "$.capabilities.tools"),
        ({"logging": "yes"}, "$.capabilities.logging"),
        ({"tools": {"listChanged": "yes"}}, "$.capabilities.tools.listChanged"),
    ],
)
def test_invalid_flags_are_warnings(flags, path):
    assert get_warning_paths(build_server(capabilities=flags)) == [path]


def test_unknown_members_are_warnings():
    assert get_warning_paths(build_server(sails=2, icons=[], _meta={})) == ["$.sails"]

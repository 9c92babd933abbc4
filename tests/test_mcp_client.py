"""The client that other tests run client configurations with."""

import sys

import pytest

from tests import mcp_servers
from tests.mcp_client import (
    ECHO_SERVER,
    call_configured_tool,
    run_client_configuration,
)


def list_tool_names(configuration, name):
    result = run_client_configuration(configuration, name)
    return [tool.name for tool in result.tools]


def echo_configuration(**members):
    server = {"command": sys.executable, "args": [ECHO_SERVER], **members}
    return {"mcpServers": {"echo": server}}


def test_client_runs_command_with_arguments_and_environment():
    configuration = echo_configuration(
        args=[ECHO_SERVER, "--dir", "/a b"], env={"TOKEN": "sesame"}
    )

    process = call_configured_tool(configuration, "echo", "describe_process")
    assert process["arguments"] == ["--dir", "/a b"]
    assert process["environment"]["TOKEN"] == "sesame"
    assert "DJANGO_SETTINGS_MODULE" not in process["environment"]


def test_client_lists_tools_of_command():
    configuration = echo_configuration(type="stdio")

    assert list_tool_names(configuration, "echo") == ["describe_process"]


@pytest.mark.parametrize(
    ("app", "members"),
    [
        (mcp_servers.notebook_app, {}),
        (mcp_servers.notebook_app, {"type": "http"}),
        (mcp_servers.sse_notebook_app, {"type": "sse"}),
    ],
    ids=["url", "http", "sse"],
)
def test_client_connects_to_url(app, members):
    with mcp_servers.run_app(app()) as base_url:
        server = {"url": f"{base_url}/mcp", **members}

        assert list_tool_names({"mcpServers": {"a": server}}, "a") == ["add_note"]


@pytest.mark.parametrize("type_", ["http", "sse"])
def test_client_sends_headers(server, type_):
    headers = {"Authorization": "Bearer sesame"}
    remote = {"type": type_, "url": server.url("/mcp"), "headers": headers}

    with pytest.raises(BaseException):  # noqa: B017, PT011
        run_client_configuration({"mcpServers": {"a": remote}}, "a")
    assert server.requests[0].headers["Authorization"] == "Bearer sesame"


@pytest.mark.parametrize(
    "server",
    [
        {"type": "http", "command": sys.executable},
        {"command": sys.executable, "environment": {}},
        {"type": "websocket", "url": "http://127.0.0.1/"},
        {"type": "stdio", "url": "http://127.0.0.1/"},
        {"url": "http://127.0.0.1/", "env": {}},
    ],
)
def test_client_refuses_configuration_that_clients_do_not_know(server):
    with pytest.raises(ValueError, match=r"^(Unknown members|Type)"):
        run_client_configuration({"mcpServers": {"a": server}}, "a")

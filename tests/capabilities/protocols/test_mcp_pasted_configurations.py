"""Client configurations, run by the real MCP client as they are displayed."""

import sys

import pytest

from tests import mcp_servers
from tests.mcp_client import (
    ECHO_SERVER,
    call_configured_tool,
    run_client_configuration,
)

from .mcp_connections import (
    ARGUMENTS,
    CLIENTS,
    ENVIRONMENT_VARIABLES,
    build_connection,
    build_document,
    fill_in,
    get_snippet,
)

SECRETS = {"API_KEY": "k3y", "API_SECRET": "s3 cret"}
VALUES = SECRETS | {
    "DIRECTORY": "/a b",
    "MCP_DIRECTORY": "/a b",
    "TOKEN": "t0ken",
    "MCP_TOKEN": "t0ken",
}


@pytest.fixture
def echo_commands(tmp_path, monkeypatch):
    """Put commands on the path that start a server which returns its arguments."""
    for name in ("npx", "uvx", "docker", "dnx"):
        path = tmp_path / name
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ECHO_SERVER}" "$@"\n')
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


@pytest.mark.parametrize("client", CLIENTS)
def test_package_configuration_runs_in_real_client_t7(echo_commands, client):
    connection = build_connection(**build_document())
    snippet = get_snippet(connection.options[1], client)
    configuration = fill_in(snippet.text, client, VALUES)

    process = call_configured_tool(configuration, "weather", "describe_process")

    arguments = ["-y", "@example/weather@1.2.3", "--units", "metric", "/a b"]
    assert process["arguments"] == arguments
    environment = SECRETS | {"REGION": "north", "MODE": "fixed"}
    assert process["environment"].items() >= environment.items()
    assert "DEBUG" not in process["environment"]


@pytest.mark.parametrize(
    ("registry", "arguments"),
    [
        ("pypi", ["weather@1.2.3"]),
        ("oci", ["run", "-i", "--rm", "-e", "API_KEY", "weather:1.2.3"]),
        ("nuget", ["weather@1.2.3", "--yes", "--"]),
    ],
)
def test_command_of_each_registry_runs_in_real_client(
    echo_commands, registry, arguments
):
    package = {"registryType": registry, "identifier": "weather", "version": "1.2.3"}
    package |= {
        "environmentVariables": ENVIRONMENT_VARIABLES[:1],
        "packageArguments": ARGUMENTS[:1],
    }
    (option,) = build_connection(packages=[package]).options
    configuration = fill_in(get_snippet(option).text, CLIENTS[0], VALUES)

    process = call_configured_tool(configuration, "weather", "describe_process")

    assert process["arguments"] == [*arguments, "--units", "metric"]
    assert process["environment"]["API_KEY"] == "k3y"


# Cursor detects the transport of a URL itself, which the client of the tests does not.
@pytest.mark.parametrize("client", [name for name in CLIENTS if name != "Cursor"])
def test_sse_remote_configuration_runs_in_real_client_t7(client):
    with mcp_servers.run_app(mcp_servers.sse_notebook_app()) as base_url:
        connection = build_connection(**build_document(f"{base_url}/mcp"))
        snippet = get_snippet(connection.options[0], client)
        configuration = fill_in(snippet.text, client, VALUES)

        result = run_client_configuration(configuration, "weather")

    assert [tool.name for tool in result.tools] == ["add_note"]
    server = configuration["mcpServers"]["weather"]
    assert server["type"] == "sse"
    assert server["headers"] == {"Authorization": "Bearer t0ken"}


def test_http_remote_configuration_runs_in_real_client():
    with mcp_servers.run_app(mcp_servers.notebook_app()) as base_url:
        remote = {"type": "streamable-http", "url": f"{base_url}/{{path}}"}
        remote["variables"] = {"path": {"default": "mcp"}}
        (option,) = build_connection(remotes=[remote]).options
        configuration = fill_in(get_snippet(option).text, CLIENTS[0], {})

        assert run_client_configuration(configuration, "weather").tools


def test_required_secrets_are_listed_as_credentials_t7():
    connection = build_connection(**build_document())

    assert connection.credentials == [
        "Header Authorization variable token (required, secret): Your token",
        "Environment variable API_KEY (required, secret): A key",
        "Environment variable API_SECRET (required, secret)",
    ]
    assert connection.settings == [
        "Environment variable REGION (optional, default north)",
        "Environment variable DEBUG (optional): More logs",
        "Argument --level (optional): Log level",
        "Argument directory (required)",
    ]

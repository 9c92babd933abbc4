"""What pages show about connecting to an MCP server."""

import json

import pytest

from capabilities.parsers import get_connection
from capabilities.protocols.mcp.connection import OPTION_LIMIT

from .mcp_connections import (
    CLIENTS,
    GENERIC,
    build_connection,
    connect_to_package,
    connect_to_remote,
    get_server,
    get_snippet,
)
from .mcp_documents import load_sample

SECRET = {"name": "API_KEY", "isRequired": True, "isSecret": True}


def get_arguments(**members):
    """Return the arguments for a package after `npx -y`."""
    return get_server(connect_to_package(**members))["args"][1:]


def test_streamable_http_comes_before_sse_and_packages():
    connection = build_connection(
        packages=[{"registryType": "pypi", "identifier": "weather"}],
        remotes=[
            {"type": "sse", "url": "https://weather.example/sse"},
            {"type": "websocket", "url": "https://weather.example/ws"},
            {"type": "streamable-http", "url": "https://weather.example/mcp"},
        ],
    )

    assert [(item.protocol, item.address) for item in connection.endpoints] == [
        ("MCP over HTTP", "https://weather.example/mcp"),
        ("MCP over SSE", "https://weather.example/sse"),
        ("MCP over stdio", "PyPI package weather"),
    ]
    assert [option.title for option in connection.options] == [
        "MCP over HTTP: https://weather.example/mcp",
        "MCP over SSE: https://weather.example/sse",
        "PyPI package weather",
    ]


def test_every_client_has_a_configuration():
    (option,) = connect_to_package().options

    assert [(item.title, item.file_name) for item in option.snippets] == [
        (GENERIC, ""),
        ("Claude Code", ".mcp.json"),
        ("Cursor", ".cursor/mcp.json"),
        ("VS Code", ".vscode/mcp.json"),
    ]


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        (GENERIC, {"type": "sse", "url": "https://weather.example/mcp"}),
        ("Claude Code", {"type": "sse", "url": "https://weather.example/mcp"}),
        ("Cursor", {"url": "https://weather.example/mcp"}),
        ("VS Code", {"type": "sse", "url": "https://weather.example/mcp"}),
    ],
)
def test_sse_remote_has_type_sse_t7(client, expected):
    connection = connect_to_remote(type="sse")

    assert get_server(connection, client) == expected


def test_vs_code_prompts_for_secrets():
    connection = connect_to_package(
        environmentVariables=[
            SECRET | {"description": "Your key"},
            {"name": "REGION", "isRequired": True, "choices": ["north", "south"]},
        ]
    )
    snippet = get_snippet(connection.options[0], "VS Code")

    assert json.loads(snippet.text)["inputs"] == [
        {
            "type": "promptString",
            "id": "API_KEY",
            "description": "Your key",
            "password": True,
        },
        {
            "type": "pickString",
            "id": "REGION",
            "description": "Environment variable REGION",
            "options": ["north", "south"],
        },
    ]
    assert get_server(connection, "VS Code")["env"]["API_KEY"] == "${input:API_KEY}"
    assert snippet.note == "VS Code prompts for API_KEY and REGION."


def test_variables_of_two_arguments_are_separate_inputs():
    arguments = [
        {"type": "named", "name": "--a", "value": "{id}", "variables": {"id": {}}},
        {"type": "named", "name": "--b", "value": "{id}:{id}", "isSecret": True},
    ]
    arguments[1]["variables"] = {"id": {"isSecret": True}}
    connection = connect_to_package(packageArguments=arguments)

    server = get_server(connection, "VS Code")
    second = "${input:ID_2}:${input:ID_2}"
    assert server["args"][2:] == ["--a", "${input:ID}", "--b", second]
    snippet = get_snippet(connection.options[0], "VS Code")
    inputs = json.loads(snippet.text)["inputs"]
    assert [(item["id"], item.get("password")) for item in inputs] == [
        ("ID", None),
        ("ID_2", True),
    ]
    assert snippet.note == "VS Code prompts for ID and ID_2."


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        (GENERIC, ["<YOUR_API_KEY_2>", "<YOUR_API_KEY_3>", "<YOUR_API_KEY>"]),
        ("Claude Code", ["${MCP_API_KEY}", "${MCP_API_KEY_2}", "${API_KEY}"]),
        (
            "Cursor",
            ["${env:MCP_API_KEY}", "${env:MCP_API_KEY_2}", "${env:API_KEY}"],
        ),
        (
            "VS Code",
            ["${input:API_KEY_2}", "${input:API_KEY_3}", "${input:API_KEY}"],
        ),
    ],
)
def test_inputs_with_similar_names_have_their_own_placeholders(client, expected):
    connection = connect_to_package(
        packageArguments=[
            {"type": "named", "name": "--api-key=", "isRequired": True},
            {"type": "positional", "valueHint": "api_key", "isRequired": True},
        ],
        environmentVariables=[SECRET],
    )

    server = get_server(connection, client)
    argument, positional = server["args"][2:]
    placeholders = [argument.removeprefix("--api-key="), positional]
    assert [*placeholders, server["env"]["API_KEY"]] == expected


def test_arguments_with_equal_definitions_are_separate_inputs():
    argument = {"type": "positional", "valueHint": "file", "isRequired": True}
    members = {"runtimeArguments": [argument], "packageArguments": [argument] * 2}

    assert get_arguments(**members) == [
        "<YOUR_FILE>",
        "weather@1.2.3",
        "<YOUR_FILE_2>",
        "<YOUR_FILE_3>",
    ]


@pytest.mark.parametrize(
    ("registry", "identifier", "expected"),
    [
        ("npm", "@a/weather", "@a/weather@1.2.3"),
        ("npm", "@a/weather@2.0.0", "@a/weather@2.0.0"),
        ("pypi", "weather", "weather@1.2.3"),
        ("pypi", "weather==2.0", "weather==2.0"),
        ("nuget", "Weather.Mcp", "Weather.Mcp@1.2.3"),
        ("oci", "weather", "weather:1.2.3"),
        ("oci", "host.example:5000/weather", "host.example:5000/weather:1.2.3"),
        ("oci", "weather:2.0", "weather:2.0"),
        ("oci", "weather@sha256:abc", "weather@sha256:abc"),
    ],
)
def test_version_of_package_is_pinned_t7(registry, identifier, expected):
    server = get_server(
        connect_to_package(registryType=registry, identifier=identifier)
    )

    assert expected in server["args"]


@pytest.mark.parametrize("version", ["latest", "^1.2.0", "${VERSION}", "", "*", None])
def test_version_that_is_not_exact_is_not_pinned(version):
    assert get_arguments(version=version) == ["weather"]


def test_image_has_the_host_of_its_registry():
    server = get_server(
        connect_to_package(
            registryType="oci",
            identifier="owner/weather",
            registryBaseUrl="https://images.example",
        )
    )

    assert server["args"][-1] == "images.example/owner/weather:1.2.3"


def test_declared_container_options_are_not_repeated():
    options = [
        {"type": "positional", "value": "run"},
        {"type": "named", "name": "-i"},
        {"type": "named", "name": "--rm"},
        {"type": "named", "name": "--mount", "value": "type=bind,src={dir},dst=/d"},
    ]
    options[-1]["variables"] = {"dir": {"isRequired": True, "format": "filepath"}}
    server = get_server(
        connect_to_package(registryType="oci", runtimeArguments=options)
    )

    mount = "type=bind,src=<YOUR_DIR>,dst=/d"
    assert server["args"] == ["run", "-i", "--rm", "--mount", mount, "weather:1.2.3"]


def test_package_of_runtime_argument_is_not_pinned_twice():
    arguments = [{"type": "named", "name": "--from", "value": "weather[all]==1.2.3"}]
    server = get_server(
        connect_to_package(registryType="pypi", runtimeArguments=arguments)
    )

    assert server["args"] == ["--from", "weather[all]==1.2.3", "weather"]


def test_other_runtime_needs_an_installation():
    connection = connect_to_package(registryType="pypi", runtimeHint="python")

    assert get_server(connection)["command"] == "python"
    assert get_server(connection)["args"] == ["weather"]
    assert connection.options[0].note.startswith("First install weather 1.2.3")


@pytest.mark.parametrize(
    ("members", "note"),
    [
        ({"registryType": "mcpb", "fileSha256": "abc"}, "SHA-256 digest must be abc"),
        ({"registryType": "cargo"}, "Run `cargo install weather --version 1.2.3`"),
        ({"registryType": "attic"}, "No command is known"),
        ({"identifier": None}, "does not name the package"),
        ({"packageArguments": [{"value": "a"}] * 101}, "too many arguments"),
    ],
)
def test_package_without_command_has_an_explanation(members, note):
    (option,) = connect_to_package(**members).options

    assert note in option.note
    assert option.snippets == []


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ({"type": "positional", "value": "serve"}, ["serve"]),
        (
            {"type": "positional", "valueHint": "dir", "isRequired": True},
            ["<YOUR_DIR>"],
        ),
        ({"type": "positional", "valueHint": "dir", "default": "/tmp"}, ["/tmp"]),
        ({"type": "positional", "value_hint": "dir"}, []),
        ({"type": "named", "name": "--port", "default": 8080}, ["--port", "8080"]),
        ({"type": "named", "name": "--port=", "value": "1"}, ["--port=1"]),
        ({"type": "named", "name": "--stdio"}, ["--stdio"]),
        (
            {"type": "named", "name": "--on", "format": "boolean", "isRequired": True},
            ["--on"],
        ),
        (
            {"type": "named", "name": "--key", "isRequired": True},
            ["--key", "<YOUR_KEY>"],
        ),
        ({"type": "named", "name": "--key", "description": "Key"}, []),
        (
            {"type": "named", "name": "--json", "value": '{"a": 1}'},
            ["--json", '{"a": 1}'],
        ),
        ({"type": "named", "name": "--path", "value": "{a}"}, ["--path", "{a}"]),
        ({"type": "named", "name": ["--a"], "value": {"b": 1}}, []),
    ],
)
def test_argument_is_written_as_its_schema_says(argument, expected):
    assert get_arguments(packageArguments=[argument]) == ["weather@1.2.3", *expected]


def test_optional_argument_before_others_keeps_its_position():
    arguments = [
        {"type": "positional", "valueHint": "from"},
        {"type": "positional", "value": "home"},
        {"type": "positional", "valueHint": "via"},
    ]

    assert get_arguments(packageArguments=arguments)[1:] == ["<YOUR_FROM>", "home"]


def test_members_in_snake_case_are_read():
    connection = get_connection(
        json.dumps(load_sample("server_2025_07_09")).encode(), "mcp"
    )

    assert get_server(connection, option=1) == {
        "command": "npx",
        "args": ["-y", "@harbour/pilot-book@0.9.2"],
    }


def test_package_that_listens_is_started_first():
    connection = connect_to_package(
        transport={"type": "streamable-http", "url": "http://localhost:{port}/mcp"},
        packageArguments=[{"type": "named", "name": "--port", "default": "9000"}],
        environmentVariables=[SECRET],
    )
    start, *clients = connection.options[0].snippets

    assert start.text == "API_KEY='<YOUR_API_KEY>' npx -y weather@1.2.3 --port 9000"
    assert len(clients) == len(CLIENTS)
    assert get_server(connection) == {
        "type": "http",
        "url": "http://localhost:9000/mcp",
    }


def test_package_and_its_url_share_the_names_of_inputs():
    connection = connect_to_package(
        transport={"type": "streamable-http", "url": "http://localhost:{port}/mcp"},
        packageArguments=[{"type": "named", "name": "--port", "isRequired": True}],
        environmentVariables=[{"name": "PORT", "isRequired": True}],
    )

    start = connection.options[0].snippets[0].text
    assert start.startswith("PORT='<YOUR_PORT>'")
    assert start.endswith("--port '<YOUR_PORT_2>'")
    assert get_server(connection)["url"] == "http://localhost:<YOUR_PORT_2>/mcp"


def test_introspected_server_has_its_url():
    connection = build_connection(url="https://weather.example/mcp", tools=[])

    assert get_server(connection) == {
        "type": "http",
        "url": "https://weather.example/mcp",
    }


def test_transport_that_clients_do_not_know_has_no_configuration():
    remote = {"type": "websocket", "url": "https://weather.example/ws"}
    connection = build_connection(remotes=[remote])

    assert connection.options == []
    assert [item.address for item in connection.endpoints] == [remote["url"]]


def test_options_are_limited():
    packages = [{"registryType": "npm", "identifier": f"w{n}"} for n in range(50)]
    connection = build_connection(packages=packages)

    assert len(connection.options) == OPTION_LIMIT + 1
    assert "raw definition" in connection.options[-1].title


def test_long_values_become_placeholders():
    variables = {"a": {"default": "x" * 1500}}
    argument = {"type": "named", "name": "--a", "value": "{a}" * 600}
    argument["variables"] = variables

    assert get_arguments(packageArguments=[argument])[1:] == ["--a", "<YOUR_A>"]


@pytest.mark.parametrize("value", [["npm"], {"npm": 1}, 7, True])
@pytest.mark.parametrize(
    "key", ["registryType", "registry_name", "identifier", "version", "runtimeHint"]
)
def test_member_of_wrong_type_does_not_prevent_connection_t6(key, value):
    package = {"registry_name": "npm", "name": "weather", key: value}
    raw = json.dumps({"name": "io.example/weather", "packages": [package]}).encode()

    assert len(get_connection(raw, "mcp").options) == 1

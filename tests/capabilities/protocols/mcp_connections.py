"""Connections of MCP definitions, and their configurations with values filled in."""

import json
import re
from typing import Any

from capabilities.connections import Connection, ConnectionOption, Snippet
from capabilities.problems import Problems
from capabilities.protocols.mcp import MCPParser

GENERIC = "Any client with mcpServers"
# How the configuration of each client refers to a value that the user supplies.
REFERENCES = {
    GENERIC: re.compile(r"<YOUR_([A-Z0-9_]+)>"),
    "Claude Code": re.compile(r"\$\{([A-Z0-9_]+)\}"),
    "Cursor": re.compile(r"\$\{env:([A-Z0-9_]+)\}"),
    "VS Code": re.compile(r"\$\{input:([A-Z0-9_]+)\}"),
}
CLIENTS = list(REFERENCES)
ENVIRONMENT_VARIABLES = [
    {"name": "API_KEY", "isRequired": True, "isSecret": True, "description": "A key"},
    {"name": "API_SECRET", "isRequired": True, "isSecret": True},
    {"name": "REGION", "default": "north"},
    {"name": "MODE", "value": "fixed"},
    {"name": "DEBUG", "description": "More logs"},
]
ARGUMENTS = [
    {"type": "named", "name": "--units", "value": "metric"},
    {"type": "named", "name": "--level", "description": "Log level"},
    {"type": "positional", "valueHint": "directory", "isRequired": True},
]


def build_document(sse_url: str = "https://weather.example/sse") -> dict[str, Any]:
    """Return a `server.json` with secrets, arguments of both types and a remote."""
    package = {
        "registryType": "npm",
        "identifier": "@example/weather",
        "version": "1.2.3",
        "transport": {"type": "stdio"},
        "packageArguments": ARGUMENTS,
        "environmentVariables": ENVIRONMENT_VARIABLES,
    }
    header = {
        "name": "Authorization",
        "value": "Bearer {token}",
        "variables": {"token": {"isSecret": True, "description": "Your token"}},
    }
    remote = {"type": "sse", "url": sse_url, "headers": [header]}
    return {"packages": [package], "remotes": [remote]}


def build_connection(**members: Any) -> Connection:
    """Return the connection of a `server.json` with these members."""
    document = {"name": "io.example/weather"} | members
    parser = MCPParser()
    return parser.build_connection(document, parser.parse(document, Problems()))


def connect_to_package(**members: Any) -> Connection:
    """Return the connection of a server whose only package has these members."""
    package = {"registryType": "npm", "identifier": "weather", "version": "1.2.3"}
    return build_connection(packages=[package | members])


def connect_to_remote(**members: Any) -> Connection:
    """Return the connection of a server whose only remote has these members."""
    remote = {"type": "streamable-http", "url": "https://weather.example/mcp"}
    return build_connection(remotes=[remote | members])


def get_snippet(option: ConnectionOption, client: str = GENERIC) -> Snippet:
    (snippet,) = [item for item in option.snippets if item.title == client]
    return snippet


def get_server(connection: Connection, client: str = GENERIC, option: int = 0) -> dict:
    """Return the server in a client's configuration."""
    configuration = json.loads(get_snippet(connection.options[option], client).text)
    servers = configuration["servers" if client == "VS Code" else "mcpServers"]
    (server,) = servers.values()
    return server


def fill_in(configuration: str, client: str, values: dict[str, str]) -> dict:
    """Return the configuration as `mcpServers`, with the user's values filled in.

    VS Code has values for its inputs only, which it declares itself.
    """
    text = REFERENCES[client].sub(
        lambda match: json.dumps(values[match[1]])[1:-1], configuration
    )
    filled = json.loads(text)
    if client != "VS Code":
        return filled
    references = set(REFERENCES[client].findall(configuration))
    assert {item["id"] for item in filled.get("inputs", [])} == references
    return {"mcpServers": filled["servers"]}

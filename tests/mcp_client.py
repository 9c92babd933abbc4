"""Run a client configuration (`mcpServers`) with the real MCP client of the SDK."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, types
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

# A server for configurations with a command; its tool `describe_process` returns the
# arguments and the environment variables that it got.
ECHO_SERVER = str(Path(__file__).with_name("mcp_echo_server.py"))
TIMEOUT_SECONDS = 60
COMMAND_MEMBERS = {"type", "command", "args", "env"}
URL_MEMBERS = {"type", "url", "headers"}


def run_client_configuration(configuration: dict, name: str) -> types.ListToolsResult:
    """Connect to the server with this name as its configuration says; list its tools.

    Raise ValueError if a client would not understand the configuration.
    """
    return run_client(configuration, name, lambda client: client.list_tools())


def call_configured_tool(
    configuration: dict, name: str, tool: str, **arguments: Any
) -> dict[str, Any]:
    """Connect to the server with this name; return the structured result of a tool."""
    result = run_client(
        configuration, name, lambda client: client.call_tool(tool, arguments)
    )
    assert not result.is_error, result.content
    return result.structured_content


def run_client(
    configuration: dict, name: str, function: Callable[[Client], Awaitable[Any]]
) -> Any:
    async def connect() -> Any:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            transport = open_transport(configuration["mcpServers"][name])
            async with Client(transport) as client:
                return await function(client)

    return asyncio.run(connect())


def open_transport(server: dict) -> Any:
    """Return the transport to a configured server."""
    if "command" in server:
        check_members(server, COMMAND_MEMBERS, ["stdio"])
        parameters = StdioServerParameters(
            command=server["command"],
            args=server.get("args", []),
            env=server.get("env", {}),
        )
        return stdio_client(parameters, errlog=sys.__stderr__)
    check_members(server, URL_MEMBERS, ["http", "sse"])
    headers = server.get("headers", {})
    if server.get("type") == "sse":
        return sse_client(server["url"], headers=headers)
    return open_http_transport(server["url"], headers)


@asynccontextmanager
async def open_http_transport(url: str, headers: dict[str, str]):
    async with (
        httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_SECONDS) as http_client,
        streamable_http_client(url, http_client=http_client) as streams,
    ):
        yield streams


def check_members(server: dict, members: set[str], transports: list[str]) -> None:
    """Raise ValueError for a member or a type that clients do not know."""
    if unknown := set(server) - members:
        raise ValueError(f"Unknown members: {sorted(unknown)}")
    if (type_ := server.get("type", transports[0])) not in transports:
        raise ValueError(f"Type {type_!r} is not one of {transports}")

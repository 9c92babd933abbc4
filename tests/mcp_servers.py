"""Real MCP servers on loopback: of the official SDK, and of older revisions by hand."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import uvicorn
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

from tests.servers import Request, reply

PAGES = 3


@contextmanager
def serving(application: Callable[..., Any]) -> Iterator[str]:
    """Under uvicorn on a free port; yields its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(application, log_level="critical", lifespan="on")
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join()


def notebook() -> Any:
    return notebook_server().streamable_http_app(streamable_http_path="/mcp")


def stateless_notebook() -> Any:
    """For many workers; whoever comes by with a GET is left listening."""
    return notebook_server().streamable_http_app(
        streamable_http_path="/mcp", stateless_http=True, json_response=True
    )


def notebook_of_2024() -> Any:
    """Over the transport of that year: listened to at one place, told at another."""
    return notebook_server().sse_app(sse_path="/mcp")


def notebook_server() -> MCPServer:
    """Tools, resources, a template and a prompt, as one would write them."""
    server = MCPServer("notebook", title="Notebook", version="2.1.0")

    @server.tool()
    def add_note(text: str) -> str:
        """Add a note."""
        return text

    @server.resource("notes://all")
    def notes() -> str:
        """Every note."""
        return ""

    @server.resource("notes://{number}")
    def note(number: str) -> str:
        """One note."""
        return number

    @server.prompt()
    def summarise(topic: str) -> str:
        """Summarise the notes on a topic."""
        return topic

    return server


def paged() -> Any:
    """Five tools on three pages, and a last page that points to itself."""

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        page = int(params.cursor or 0) if params else 0
        names = [f"tool_{n}" for n in range(5)][page * 2 : page * 2 + 2]
        tools = [
            types.Tool(name=name, input_schema={"type": "object"}) for name in names
        ]
        following = str(min(page + 1, PAGES - 1))
        return types.ListToolsResult(tools=tools, next_cursor=following)

    server = Server("paged", version="1.0.0", on_list_tools=list_tools)
    return server.streamable_http_app(streamable_http_path="/mcp")


def legacy(request: Request) -> list[bytes]:
    """A server of 2025: it knows no discovery, only the handshake."""
    message = json.loads(request.body or b"{}")
    results = {
        "initialize": {
            "protocolVersion": "2025-03-26",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "legacy", "version": "0.9"},
        },
        "tools/list": {"tools": [{"name": "dig", "inputSchema": {"type": "object"}}]},
    }
    if message.get("method") == "notifications/initialized":
        return [reply(202)]
    if message.get("method") not in results:
        return [reply(400)]
    answer = {
        "jsonrpc": "2.0",
        "id": message["id"],
        "result": results[message["method"]],
    }
    body = json.dumps(answer).encode()
    return [reply(body=body, content_type="application/json")]


def gated(request: Request) -> list[bytes]:
    """The same for those who know the word."""
    known = request.headers["Authorization"] == "Bearer sesame"
    return legacy(request) if known else [reply(401)]

"""Real MCP servers on loopback, written with the official SDK."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import uvicorn
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

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

    return server.streamable_http_app(streamable_http_path="/mcp")


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

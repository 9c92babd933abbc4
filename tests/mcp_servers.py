"""Real MCP servers on loopback: the official SDK's, and one of an older revision."""

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

PAGE_COUNT = 3

RESOURCES = {"resources": [{"name": "book", "uri": "book://1"}]}
TOOLS = {"tools": [{"name": "dig", "inputSchema": {"type": "object"}}]}
METHOD_NOT_FOUND = {"code": -32601, "message": "Method not found"}
INTERNAL_ERROR = {"code": -32603, "message": "Out of memory"}


@contextmanager
def run_app(application: Callable[..., Any]) -> Iterator[str]:
    """Run an ASGI application under uvicorn on a free port; yield its base URL."""
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


def notebook_app() -> Any:
    return build_notebook().streamable_http_app(streamable_http_path="/mcp")


def stateless_notebook_app() -> Any:
    """Return an app without sessions; it keeps every GET request open."""
    return build_notebook().streamable_http_app(
        streamable_http_path="/mcp", stateless_http=True, json_response=True
    )


def sse_notebook_app() -> Any:
    """Return an app with the HTTP+SSE transport of revision 2024-11-05."""
    return build_notebook().sse_app(sse_path="/mcp")


def build_notebook() -> MCPServer:
    """Return a server with a tool, resources, a resource template and a prompt."""
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
    def summarize(topic: str) -> str:
        """Summarize the notes on a topic."""
        return topic

    return server


def paginated_app() -> Any:
    """Return an app with five tools on three pages; the last page links to itself."""

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        page = int(params.cursor or 0) if params else 0
        names = [f"tool_{n}" for n in range(5)][page * 2 : page * 2 + 2]
        tools = [
            types.Tool(name=name, input_schema={"type": "object"}) for name in names
        ]
        next_cursor = str(min(page + 1, PAGE_COUNT - 1))
        return types.ListToolsResult(tools=tools, next_cursor=next_cursor)

    server = Server("paged", version="1.0.0", on_list_tools=list_tools)
    return server.streamable_http_app(streamable_http_path="/mcp")


def answer_legacy_request(request: Request) -> list[bytes]:
    """Answer as a server of revision 2025-03-26, which supports only the handshake."""
    message = json.loads(request.body or b"{}")
    results = {
        "initialize": {
            "protocolVersion": "2025-03-26",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "legacy", "version": "0.9"},
        },
        "ping": {},
        "tools/list": {"tools": [{"name": "dig", "inputSchema": {"type": "object"}}]},
    }
    if message.get("method") == "notifications/initialized":
        return [reply(202)]
    if message.get("method") not in results:
        return [reply(400)]
    response = {
        "jsonrpc": "2.0",
        "id": message["id"],
        "result": results[message["method"]],
    }
    body = json.dumps(response).encode()
    return [reply(body=body, content_type="application/json")]


def answer_authorized_request(request: Request) -> list[bytes]:
    """Answer like the legacy server, but only with the token `sesame`."""
    if request.headers["Authorization"] != "Bearer sesame":
        return [reply(401)]
    return answer_legacy_request(request)


def answer_with_lists(
    revision: str = "2025-03-26", **results: Any
) -> Callable[[Request], list[bytes]]:
    """Return a route of a server of this revision with these lists.

    A value is the result of the list request, a JSON-RPC error, the raw response or a
    function that returns one of them for the request.
    """
    capabilities = {name.partition("/")[0]: {} for name in results}
    initialize_result = {
        "protocolVersion": revision,
        "capabilities": capabilities,
        "serverInfo": {"name": "shelf", "version": "1"},
    }
    results_by_method = {"initialize": initialize_result, "ping": {}}
    results_by_method |= {f"{name}/list": result for name, result in results.items()}

    def route(request: Request) -> list[bytes]:
        message = json.loads(request.body or b"{}")
        method = message.get("method")
        if method not in results_by_method:
            return [reply(202 if "id" not in message else 400)]
        result = results_by_method[method]
        result = result(message) if callable(result) else result
        if isinstance(result, bytes):
            return [result]
        member = "error" if "code" in result else "result"
        body = {"jsonrpc": "2.0", "id": message["id"], member: result}
        return [reply(body=json.dumps(body).encode(), content_type="application/json")]

    return route

"""Run an MCP server with the `mcp` or `fastmcp` package of the current environment.

The only argument names a function below. The script runs in environments without
this project, so it imports nothing of it. It prints its port, and reports its
open sessions and its memory at /state. It stops when its standard input is closed.
"""

import ctypes
import gc
import os
import socket
import sys
import threading

import uvicorn
from starlette.responses import JSONResponse
from starlette.routing import Route


def add_note(text: str) -> str:
    """Add a note."""
    return text


def build_sdk_1_app():
    return build_sdk_1_server().streamable_http_app()


def build_sdk_1_sse_app():
    return build_sdk_1_server().sse_app()


def build_sdk_1_server():
    from mcp.server.fastmcp import FastMCP  # noqa: PLC0415

    server = FastMCP("notebook")
    server.add_tool(add_note)
    return server


def build_sdk_2_app():
    from mcp.server.mcpserver import MCPServer  # noqa: PLC0415

    server = MCPServer("notebook")
    server.add_tool(add_note)
    return server.streamable_http_app(streamable_http_path="/mcp")


def build_fastmcp_app():
    from fastmcp import FastMCP  # noqa: PLC0415

    server = FastMCP("notebook")
    server.tool(add_note)
    return server.http_app(path="/mcp")


def count_sessions() -> int:
    """Return the number of sessions that the transports of this process keep."""
    from mcp.server.sse import SseServerTransport  # noqa: PLC0415
    from mcp.server.streamable_http_manager import (  # noqa: PLC0415
        StreamableHTTPSessionManager,
    )

    count = 0
    for item in gc.get_objects():
        if issubclass(type(item), StreamableHTTPSessionManager):
            count += len(item._server_instances)
        elif issubclass(type(item), SseServerTransport):
            count += len(item._read_stream_writers)
    return count


def read_memory() -> int:
    """Return the resident memory of this process in bytes, without free memory."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/status") as status:
        (line,) = (line for line in status if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


async def report_state(request):
    return JSONResponse({"sessions": count_sessions(), "memory": read_memory()})


def exit_with_parent() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    app = globals()[f"build_{sys.argv[1]}_app"]()
    app.router.routes.append(Route("/state", report_state))
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=exit_with_parent, daemon=True).start()
    port = listener.getsockname()[1]
    print(f"port {port}\nstate {port}", flush=True)
    config = uvicorn.Config(app, log_level="warning")
    uvicorn.Server(config).run([listener])

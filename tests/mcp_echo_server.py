"""An MCP server on stdio that returns its arguments and environment variables.

Run as a script, as a command of a client configuration.
"""

import os
import sys
from typing import Any

from mcp.server.mcpserver import MCPServer

server = MCPServer("echo")


@server.tool()
def describe_process() -> dict[str, Any]:
    """Return the arguments of the command line and the environment variables."""
    return {"arguments": sys.argv[1:], "environment": dict(os.environ)}


if __name__ == "__main__":
    server.run("stdio")

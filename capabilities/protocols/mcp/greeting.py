"""The first words of an MCP client, to a server of today and to older ones."""

from typing import Any

from ...health_requests import Ask

LATEST = "2026-07-28"
OLDER = "2025-11-25"
CLIENT = {"name": "agentlens", "version": "1"}
# How a server answers that does not take messages where it is listened to.
NO_SUCH_PLACE = (400, 404, 405)
ACCEPT = {"Accept": "application/json, text/event-stream"}


def discover(endpoint: str) -> Ask:
    meta = {
        "io.modelcontextprotocol/protocolVersion": LATEST,
        "io.modelcontextprotocol/clientInfo": CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    named = {"MCP-Protocol-Version": LATEST, "Mcp-Method": "server/discover"}
    body = call("server/discover", {"_meta": meta})
    return Ask(endpoint, "POST", body, ACCEPT | named)


def initialize(endpoint: str) -> Ask:
    params = {"protocolVersion": OLDER, "capabilities": {}, "clientInfo": CLIENT}
    body = call("initialize", params)
    return Ask(endpoint, "POST", body, ACCEPT, session="Mcp-Session-Id")


def listen(endpoint: str) -> Ask:
    """To a server of 2024, which has another place for what it is told."""
    return Ask(endpoint, headers={"Accept": "text/event-stream"}, after=NO_SUCH_PLACE)


def call(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}

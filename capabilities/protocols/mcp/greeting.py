"""The first words of an MCP client, to a server of today and to older ones."""

from typing import Any

from ...asking import Ask

LATEST = "2026-07-28"
OLDER = "2025-11-25"
CLIENT = {"name": "agentlens", "version": "1"}
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
    return Ask(endpoint, "POST", call("initialize", params), ACCEPT)


def call(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}

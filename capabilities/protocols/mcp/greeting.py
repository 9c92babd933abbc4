"""The first words of an MCP client, to a server of today and to older ones."""

from typing import Any

from ...health_requests import HealthRequest

LATEST = "2026-07-28"
OLDER = "2025-11-25"
CLIENT = {"name": "agentlens", "version": "1"}
# How a server answers that does not take messages where it is listened to.
WRONG_ENDPOINT_STATUSES = (400, 404, 405)
ACCEPT = {"Accept": "application/json, text/event-stream"}


def discover(endpoint: str) -> HealthRequest:
    meta = {
        "io.modelcontextprotocol/protocolVersion": LATEST,
        "io.modelcontextprotocol/clientInfo": CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    named = {"MCP-Protocol-Version": LATEST, "Mcp-Method": "server/discover"}
    body = call("server/discover", {"_meta": meta})
    return HealthRequest(endpoint, "POST", body, ACCEPT | named)


def initialize(endpoint: str) -> HealthRequest:
    params = {"protocolVersion": OLDER, "capabilities": {}, "clientInfo": CLIENT}
    body = call("initialize", params)
    return HealthRequest(
        endpoint, "POST", body, ACCEPT, session_header="Mcp-Session-Id"
    )


def listen(endpoint: str) -> HealthRequest:
    """To a server of 2024, which has another place for what it is told."""
    return HealthRequest(
        endpoint,
        headers={"Accept": "text/event-stream"},
        only_after_statuses=WRONG_ENDPOINT_STATUSES,
    )


def call(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}

"""The HTTP requests that check whether an MCP server of any revision is alive."""

from typing import Any

from ...health_requests import HealthRequest

# The latest revision, and the last revision in which clients send `initialize`.
LATEST_REVISION = "2026-07-28"
INITIALIZE_REVISION = "2025-11-25"
CLIENT_INFO = {"name": "agentlens", "version": "1"}
# Statuses with which a server answers a POST to the URL of its event stream.
POST_REJECTED_STATUSES = (400, 404, 405)
ACCEPT_HEADERS = {"Accept": "application/json, text/event-stream"}


def build_discover_request(endpoint: str) -> HealthRequest:
    meta = {
        "io.modelcontextprotocol/protocolVersion": LATEST_REVISION,
        "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = build_json_rpc("server/discover", {"_meta": meta})
    headers = ACCEPT_HEADERS | {
        "MCP-Protocol-Version": LATEST_REVISION,
        "Mcp-Method": "server/discover",
    }
    return HealthRequest(endpoint, "POST", body, headers)


def build_initialize_request(endpoint: str) -> HealthRequest:
    params = {
        "protocolVersion": INITIALIZE_REVISION,
        "capabilities": {},
        "clientInfo": CLIENT_INFO,
    }
    body = build_json_rpc("initialize", params)
    return HealthRequest(
        endpoint, "POST", body, ACCEPT_HEADERS, session_header="Mcp-Session-Id"
    )


def build_stream_request(endpoint: str) -> HealthRequest:
    """Return the request for the HTTP+SSE transport of 2024."""
    return HealthRequest(
        endpoint,
        headers={"Accept": "text/event-stream"},
        only_after_statuses=POST_REJECTED_STATUSES,
    )


def build_json_rpc(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}

"""The HTTP requests that check whether an MCP server of any revision is alive.

None of them opens a session. Servers with sessions open one for each request without a
session ID, and the Python SDK before version 2 keeps it until the server is restarted.
A request with an unknown ID is refused with 400 or 404 and leaves nothing behind;
servers without sessions ignore the ID and answer.
"""

from typing import Any

from ...health_requests import Expectation, HealthRequest, HealthResponse

# The latest revision, and the last revision in which clients send `initialize`.
LATEST_REVISION = "2026-07-28"
INITIALIZE_REVISION = "2025-11-25"
# Where most servers of a host are, for Streamable HTTP and for HTTP+SSE.
ENDPOINT_PATHS = ("/mcp", "/sse")
CLIENT_INFO = {"name": "agentlens", "version": "1"}
BAD_REQUEST, NOT_FOUND, METHOD_NOT_ALLOWED = 400, 404, 405
# Statuses with which a server refuses an unknown session ID or an unknown method.
REFUSED_STATUSES = (BAD_REQUEST, NOT_FOUND)
# Statuses with which a server answers a POST to the URL of its event stream.
POST_REJECTED_STATUSES = (*REFUSED_STATUSES, METHOD_NOT_ALLOWED)
ACCEPT_HEADERS = {"Accept": "application/json, text/event-stream"}
# The session ID of all health requests; no server has given it to anyone.
UNKNOWN_SESSION = {"Mcp-Session-Id": "agentlens-health-check"}
# Bytes of a refusal in which the word `session` is searched.
REFUSAL_LIMIT = 1000


def build_health_requests(endpoint: str) -> list[HealthRequest]:
    """Return the requests, those first that every server survives.

    `server/discover` comes after `ping`, because it crashes servers without sessions of
    the Python SDK 1.8 and 1.9. These answer `ping`, so they do not receive it.
    """
    return [
        build_ping_request(endpoint),
        build_discover_request(endpoint),
        build_stream_request(endpoint),
    ]


def build_ping_request(endpoint: str) -> HealthRequest:
    return HealthRequest(
        endpoint,
        "POST",
        build_json_rpc("ping"),
        ACCEPT_HEADERS | UNKNOWN_SESSION,
        POST_REJECTED_STATUSES,
        MESSAGE_EXPECTED,
        probe_method="ping",
    )


def build_discover_request(endpoint: str) -> HealthRequest:
    meta = {
        "io.modelcontextprotocol/protocolVersion": LATEST_REVISION,
        "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    revision_headers = {
        "MCP-Protocol-Version": LATEST_REVISION,
        "Mcp-Method": "server/discover",
    }
    return HealthRequest(
        endpoint,
        "POST",
        build_json_rpc("server/discover", {"_meta": meta}),
        ACCEPT_HEADERS | UNKNOWN_SESSION | revision_headers,
        REFUSED_STATUSES,
        MESSAGE_EXPECTED,
        probe_method="discover",
    )


def build_stream_request(endpoint: str) -> HealthRequest:
    """Return the request for the HTTP+SSE transport of 2024."""
    return HealthRequest(
        endpoint,
        headers={"Accept": "text/event-stream"} | UNKNOWN_SESSION,
        only_after_statuses=POST_REJECTED_STATUSES,
        expectation=MESSAGE_EXPECTED,
        probe_method="sse",
    )


def build_initialize_request(endpoint: str) -> HealthRequest:
    """Return the handshake with an unknown session ID; not for probes.

    Only servers without sessions answer it with a result.
    """
    params = {
        "protocolVersion": INITIALIZE_REVISION,
        "capabilities": {},
        "clientInfo": CLIENT_INFO,
    }
    body = build_json_rpc("initialize", params)
    return HealthRequest(endpoint, "POST", body, ACCEPT_HEADERS | UNKNOWN_SESSION)


def build_json_rpc(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": method}
    return message if params is None else message | {"params": params}


def find_mismatch(response: HealthResponse) -> str:
    """Return what the response contains instead of an answer in MCP, or ""."""
    if response.status == METHOD_NOT_ALLOWED:
        # Servers with the HTTP+SSE transport answer a POST like this, but so do plain
        # web sites.
        return "HTML" if response.is_html else ""
    is_refusal = response.status in REFUSED_STATUSES
    if (
        has_message(response)
        or has_endpoint_event(response)
        or (is_refusal and names_session(response))
    ):
        return ""
    return response.describe("a JSON-RPC message")


def has_message(response: HealthResponse) -> bool:
    """Return whether the response has a JSON-RPC message, or a batch of them."""
    try:
        value = response.read_json()
    except ValueError:
        return False
    message = value[0] if isinstance(value, list) and value else value
    return (
        isinstance(message, dict)
        and message.get("jsonrpc") == "2.0"
        and bool(message.keys() & {"result", "error", "method"})
    )


def has_endpoint_event(response: HealthResponse) -> bool:
    """Return whether the response is a stream of the HTTP+SSE transport."""
    return response.event == "endpoint"


def names_session(response: HealthResponse) -> bool:
    """Return whether a refusal in plain text is about the session ID.

    Some SDKs refuse it in words instead of JSON, like that for Python 1.8 to 1.12.
    """
    start = response.body[:REFUSAL_LIMIT].lower()
    return b"session" in start and not response.is_html


MESSAGE_EXPECTED = Expectation(find_mismatch, POST_REJECTED_STATUSES)

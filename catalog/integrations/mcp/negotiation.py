"""Sessions with MCP servers that harm no server: how to open and how to close them.

Servers of the Python SDK 1.8 and 1.9 fail for all clients after a `server/discover`
(without sessions) or after a session was deleted (with sessions).
"""

import asyncio
import re
from contextlib import suppress
from typing import Any, Literal

import httpx2

from capabilities.health_requests import HealthRequest
from capabilities.protocols.mcp import (
    UNKNOWN_SESSION,
    build_initialize_request,
    build_ping_request,
    has_message,
)

from ...outbound import FetchError, open_response, read_health_response

Mode = Literal["auto", "legacy"]
# The latest revision of the SDK versions described above.
LAST_FRAGILE_REVISION = "2025-03-26"
REVISION_PATTERN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# Seconds that closing a session may take.
CLOSE_TIMEOUT = 1.0


async def choose_mode(client: httpx2.AsyncClient, url: str) -> Mode:
    """Return how the SDK may open a session: `legacy` never sends `server/discover`.

    Ask the server itself, and not its definition: that may be wrong or outdated. The
    requests open no session.
    """
    ping, is_stateless = build_ping_request(url), False
    async with open_response(client, ping, within_origin=True) as response:
        if response.is_success:
            is_stateless = has_message(await read_health_response(response))
    if not is_stateless:
        # Servers with sessions refuse `server/discover` with an unknown session ID.
        return "auto"
    revision = await fetch_revision(client, url)
    return "legacy" if is_fragile(revision) else "auto"


async def fetch_revision(client: httpx2.AsyncClient, url: str) -> str:
    """Return the revision that a server without sessions supports, or ""."""
    initialize = build_initialize_request(url)
    async with open_response(client, initialize, within_origin=True) as response:
        if not response.is_success:
            return ""
        answer = await read_health_response(response)
    with suppress(ValueError):
        return get_revision(answer.read_json())
    return ""


def get_revision(message: Any) -> str:
    """Return the revision in the response to `initialize`, or ""."""
    result = message.get("result") if isinstance(message, dict) else None
    revision = result.get("protocolVersion") if isinstance(result, dict) else None
    if isinstance(revision, str) and REVISION_PATTERN.fullmatch(revision):
        return revision
    return ""


def is_fragile(revision: str) -> bool:
    """Return whether a server of this revision may be one of those described above."""
    return "" < revision <= LAST_FRAGILE_REVISION


async def refuse_discover_session(request: httpx2.Request) -> None:
    """Add an unknown session ID to `server/discover`, so that it opens no session."""
    if request.headers.get("Mcp-Method") == "server/discover":
        request.headers.update(UNKNOWN_SESSION)


async def close_session(
    client: httpx2.AsyncClient, url: str, session_id: str, revision: str
) -> None:
    """Close a session, unless the server may not survive that; ignore errors.

    A session that is left open costs the server some memory, until it expires or the
    server is restarted.
    """
    if not session_id or not revision or is_fragile(revision):
        return
    headers = {"Mcp-Session-Id": session_id, "MCP-Protocol-Version": revision}
    request = HealthRequest(url, "DELETE", headers=headers)
    with suppress(TimeoutError, httpx2.HTTPError, FetchError, OSError):
        async with (
            asyncio.timeout(CLOSE_TIMEOUT),
            open_response(client, request, within_origin=True),
        ):
            pass

"""What a running MCP server says of itself, as a definition to catalogue."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import httpx2
from django.conf import settings

from capabilities.records import CAPABILITY_LIMIT

from .fetch import (
    AuthorizationNeeded,
    BoundedTransport,
    FetchError,
    FetchFailed,
    FetchTimeout,
    check_url,
    guarded_client,
    host_of,
)

if TYPE_CHECKING:
    from mcp import Client

CLOSED = (401, 403)


async def introspect(url: str, authorization: str = "") -> bytes:
    """Speak MCP with the server at a URL; `authorization` is for this once."""
    check_url(url)
    seconds = settings.AGENTLENS_FETCH_TIMEOUT
    seen: list[int] = []
    try:
        async with asyncio.timeout(seconds):
            return await told_by(url, authorization, seen)
    except TimeoutError as error:
        raise FetchTimeout(f"{host_of(url)} did not answer in {seconds:g} s") from error
    except Exception as error:
        raise reason(url, error, seen) from error


async def told_by(url: str, authorization: str, seen: list[int]) -> bytes:
    # Heavy, and of no use to anything else: not before it is needed.
    from mcp import Client  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    async def note(response: httpx2.Response) -> None:
        seen.append(response.status_code)

    headers = {"Authorization": authorization} if authorization else {}
    async with guarded_client(
        BoundedTransport(), headers=headers, event_hooks={"response": [note]}
    ) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, cache=None) as client:
            document = await described(url, client)
    return json.dumps(document, ensure_ascii=False).encode()


async def described(url: str, client: "Client") -> dict[str, Any]:
    """The introspection document that the MCP parser reads."""
    capabilities = plain(client.server_capabilities)
    lists: dict[str, Callable[..., Awaitable[Any]]] = {}
    if "tools" in capabilities:
        lists["tools"] = client.list_tools
    if "resources" in capabilities:
        lists["resources"] = client.list_resources
        lists["resourceTemplates"] = client.list_resource_templates
    if "prompts" in capabilities:
        lists["prompts"] = client.list_prompts
    return {
        "serverInfo": plain(client.server_info) if client.server_info else {},
        "protocolVersion": client.protocol_version,
        "capabilities": capabilities,
        "instructions": client.instructions or "",
        "url": url,
        **{name: await every(name, method) for name, method in lists.items()},
    }


async def every(name: str, method: Callable[..., Awaitable[Any]]) -> list[Any]:
    """All pages of a list; a server that goes round in circles is stopped."""
    from mcp import MCPError  # noqa: PLC0415

    items: list[Any] = []
    cursors: set[str | None] = {None}
    cursor: str | None = None
    while len(items) <= CAPABILITY_LIMIT:
        try:
            page = plain(await method(cursor=cursor))
        except MCPError:
            # Declared with its kin, and yet not every server has it.
            if name != "resourceTemplates":
                raise
            return items
        items += page.get(name, [])
        cursor = page.get("nextCursor")
        if cursor in cursors or not cursor:
            return items
        cursors.add(cursor)
    return items


def plain(model: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = model.model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    return dumped


def reason(url: str, error: BaseException, seen: list[int]) -> FetchError:
    """Which of our errors it is, however deep the client wrapped it."""
    inner = list(leaves(error))
    ours = next((leaf for leaf in inner if isinstance(leaf, FetchError)), None)
    if ours:
        return ours
    if any(status in CLOSED for status in seen):
        return AuthorizationNeeded(f"{host_of(url)} asks for authorisation")
    if any(isinstance(leaf, httpx2.TimeoutException) for leaf in inner):
        return FetchTimeout(f"{host_of(url)} did not answer in time")
    if any(isinstance(leaf, httpx2.ConnectError) for leaf in inner):
        return FetchFailed(f"Could not connect to {host_of(url)}")
    return FetchFailed(f"{host_of(url)} does not speak MCP")


def leaves(error: BaseException) -> list[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for part in error.exceptions for leaf in leaves(part)]

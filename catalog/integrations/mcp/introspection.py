"""Read the definition of a running MCP server from the server itself."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2

from capabilities.interfaces import Introspection, Introspector
from capabilities.problems import Document
from capabilities.protocols.mcp import (
    ENDPOINT_PATHS,
    POST_REJECTED_STATUSES,
    complete_card,
    is_completed,
    preserve_introspected,
)
from capabilities.records import CAPABILITY_LIMIT

from ...conf import conf
from ...outbound import (
    FetchError,
    FetchTimeout,
    HostUnreachable,
    NoDefinitionAtUrl,
    SessionInterrupted,
    check_url,
    create_guarded_client,
    get_host,
)
from .negotiation import (
    CLOSE_TIMEOUT,
    Mode,
    choose_mode,
    close_session,
    refuse_discover_session,
)
from .recording import RecordingTransport, RefusalRecorder, Trace

if TYPE_CHECKING:
    from mcp import Client

# Maximum number of pages read from one list. A longer list is assumed endless.
LIST_PAGE_LIMIT = 500
# Maximum length of a server's error message when it is quoted.
ERROR_TEXT_LIMIT = 100
REDIRECTS = range(300, 400)


@dataclass(frozen=True, slots=True)
class ServerDescription:
    """What has been read from a server so far.

    `refused` maps the lists that the server refused to its error messages;
    `truncated` are the lists with more than LIST_PAGE_LIMIT pages or CAPABILITY_LIMIT
    items.
    """

    document: Document
    refused: dict[str, str] = field(default_factory=dict)
    truncated: list[str] = field(default_factory=list)

    @property
    def incomplete_reason(self) -> str:
        """Why the document is incomplete, "" if it is complete."""
        parts = []
        if self.refused:
            lists = ", ".join(
                f"{name} ({message[:ERROR_TEXT_LIMIT]})"
                for name, message in self.refused.items()
            )
            parts.append(f"the server did not list its {lists}")
        parts += [
            f"its {name} were only partly read, because there are more than"
            f" {LIST_PAGE_LIMIT} pages or {CAPABILITY_LIMIT} items"
            for name in self.truncated
        ]
        return "; ".join(parts)

    def to_introspection(self) -> Introspection:
        return Introspection(
            self.document, self.incomplete_reason, frozenset(self.refused)
        )


class MCPIntrospector(Introspector):
    """Introspects running MCP servers and completes server cards."""

    slug = "mcp"
    label = "MCP"
    endpoint_paths = ENDPOINT_PATHS

    async def introspect(self, url: str, authorization: str = "") -> Introspection:
        return await introspect(url, authorization)

    def complete(self, definition: Document, answer: Document) -> Document:
        return complete_card(definition, answer)

    def is_completed(self, document: Document) -> bool:
        return is_completed(document)

    def preserve_introspected(self, document: Document, stored: Document) -> Document:
        return preserve_introspected(document, stored)


async def introspect(url: str, authorization: str = "") -> Introspection:
    """Read the definition of the server at a URL; raise FetchError if that fails.

    `authorization` is sent to this server only and not stored.
    """
    check_url(url)
    seconds = conf.FETCH_TIMEOUT
    trace = Trace()
    try:
        async with asyncio.timeout(seconds):
            description = await read_server(url, authorization, trace)
            return description.to_introspection()
    except TimeoutError as error:
        raise FetchTimeout(
            f"{get_host(url)} did not respond within {seconds:g} s",
            summary=f"Timed out after {seconds:g} s",
        ) from error
    except Exception as error:
        raise build_fetch_error(url, error, trace) from error


async def read_server(url: str, authorization: str, trace: Trace) -> ServerDescription:
    """Use Streamable HTTP, or the HTTP+SSE transport of 2024 if that is missing."""
    # The SDK is slow to import, so it is imported only when needed.
    from mcp.client.sse import sse_client  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    def build_client(
        headers: Any = None, timeout: Any = None, auth: Any = None
    ) -> httpx2.AsyncClient:
        """Return the guarded client and ignore the options of the SDK."""
        return create_client(authorization, trace)

    try:
        async with build_client() as client:
            mode = await choose_mode(client, url)
            transport = streamable_http_client(
                url, http_client=client, terminate_on_close=False
            )
            try:
                return await read_over_transport(transport, url, trace, mode)
            finally:
                await close_session(client, url, trace.session_id, trace.revision)
    except Exception:
        last_status = trace.statuses[-1] if trace.statuses else None
        if last_status not in POST_REJECTED_STATUSES or trace.has_mcp_result:
            raise
    transport = sse_client(url, httpx_client_factory=build_client)
    return await read_over_transport(transport, url, trace, "legacy")


def create_client(authorization: str, trace: Trace) -> httpx2.AsyncClient:
    async def record_response(response: httpx2.Response) -> None:
        trace.statuses.append(response.status_code)
        if response.is_success and "Mcp-Session-Id" in response.headers:
            trace.session_id = response.headers["Mcp-Session-Id"]

    headers = {"Authorization": authorization} if authorization else {}
    hooks = {"request": [refuse_discover_session], "response": [record_response]}
    transport = RefusalRecorder(trace)
    return create_guarded_client(transport, headers=headers, event_hooks=hooks)


async def read_over_transport(
    transport: Any, url: str, trace: Trace, mode: Mode
) -> ServerDescription:
    from mcp import Client  # noqa: PLC0415

    recording, description = RecordingTransport(transport, trace), None
    try:
        async with (
            asyncio.timeout(None) as timeout,
            Client(recording, mode=mode, cache=None) as client,
        ):
            description = await read_lists(url, client, trace)
            # Some servers never close the session, but everything is read by then.
            timeout.reschedule(asyncio.get_running_loop().time() + CLOSE_TIMEOUT)
    except TimeoutError:
        if description is None:
            raise
    return description


async def read_lists(url: str, client: "Client", trace: Trace) -> ServerDescription:
    """Return a description whose document the MCP parser can read."""
    capabilities = to_json(client.server_capabilities)
    lists: dict[str, Callable[..., Awaitable[Any]]] = {}
    if "tools" in capabilities:
        lists["tools"] = client.list_tools
    if "resources" in capabilities:
        lists["resources"] = client.list_resources
        lists["resourceTemplates"] = client.list_resource_templates
    if "prompts" in capabilities:
        lists["prompts"] = client.list_prompts
    description = ServerDescription(
        {
            "serverInfo": to_json(client.server_info) if client.server_info else {},
            "protocolVersion": client.protocol_version,
            "capabilities": capabilities,
            "instructions": client.instructions or "",
            "url": url,
        }
    )
    for name, method in lists.items():
        await add_list(description, name, method, trace)
    return description


async def add_list(
    description: ServerDescription,
    name: str,
    method: Callable[..., Awaitable[Any]],
    trace: Trace,
) -> None:
    """Add the items of a list, or the error of a server that refuses them."""
    from mcp import MCPError  # noqa: PLC0415

    try:
        description.document[name], is_complete = await read_pages(name, method, trace)
        if not is_complete:
            description.truncated.append(name)
    except MCPError:
        if not trace.error or trace.refusal:
            raise
        if name == "resourceTemplates":
            # Declared together with resources, but not every server supports them.
            description.document[name] = []
        else:
            description.refused[name] = trace.error


async def read_pages(
    name: str, method: Callable[..., Awaitable[Any]], trace: Trace
) -> tuple[list[Any], bool]:
    """Return the items, and whether they are the whole list.

    Stop when a limit is reached. A repeated cursor counts as the end of the list.
    """
    items: list[Any] = []
    cursors: set[str | None] = {None}
    cursor: str | None = None
    while len(items) <= CAPABILITY_LIMIT and len(cursors) <= LIST_PAGE_LIMIT:
        page = await read_page(method, cursor, trace)
        page_items, cursor = page.get(name), page.get("nextCursor")
        items += page_items if isinstance(page_items, list) else []
        if not isinstance(cursor, str) or not cursor or cursor in cursors:
            return items, True
        cursors.add(cursor)
    return items, False


async def read_page(
    method: Callable[..., Awaitable[Any]], cursor: str | None, trace: Trace
) -> Document:
    """Return a page as the server sent it.

    The SDK rejects a whole page for one invalid item; its other items are used here.
    """
    from pydantic import ValidationError  # noqa: PLC0415

    trace.reset()
    with suppress(ValidationError):
        await method(cursor=cursor)
    return trace.result or {}


def to_json(model: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = model.model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    return dumped


def build_fetch_error(url: str, error: BaseException, trace: Trace) -> FetchError:
    """Return the FetchError for an exception, however deeply it is nested."""
    errors, host = flatten_group(error), get_host(url)
    if fetch_errors := [inner for inner in errors if isinstance(inner, FetchError)]:
        return fetch_errors[0]
    if trace.refusal:
        return trace.refusal
    if any(isinstance(inner, httpx2.TimeoutException) for inner in errors):
        return FetchTimeout(f"{host} did not respond in time", summary="Timed out")
    if trace.has_mcp_result:
        reason = "is an MCP server but ended the session early"
        return SessionInterrupted(f"{host} {reason}", summary=reason)
    if any(isinstance(inner, httpx2.ConnectError) for inner in errors):
        reason = f"Could not connect to {host}"
        return HostUnreachable(reason, summary="Could not connect")
    return build_not_found_error(host, trace.statuses)


def build_not_found_error(host: str, statuses: list[int]) -> NoDefinitionAtUrl:
    """Return the error for a server that answered, but not as an MCP server."""
    status = statuses[-1] if statuses else None
    if status in REDIRECTS:
        reason = "redirects MCP clients; use the URL it redirects to"
    else:
        reason = "is not an MCP server"
    summary = f"{reason} (HTTP {status})" if status else reason
    return NoDefinitionAtUrl(f"{host} {reason}", status=status, summary=summary)


def flatten_group(error: BaseException) -> list[BaseException]:
    """Return the errors in an exception group, at any depth."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [inner for part in error.exceptions for inner in flatten_group(part)]

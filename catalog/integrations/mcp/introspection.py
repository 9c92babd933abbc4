"""What a running MCP server says of itself, as a definition to catalogue."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2

from capabilities.interfaces import Introspection, Introspector
from capabilities.problems import Document
from capabilities.protocols.mcp import (
    NO_SUCH_PLACE,
    complete_card,
    is_completed,
    preserve_introspected,
)
from capabilities.records import CAPABILITY_LIMIT

from ...conf import conf
from ...outbound import (
    CLOSED,
    AuthorizationNeeded,
    BoundedTransport,
    ConversationInterrupted,
    FetchError,
    FetchFailed,
    FetchTimeout,
    NothingThere,
    check_url,
    guarded_client,
    host_of,
)

if TYPE_CHECKING:
    from mcp import Client

# Of one list; who has more goes on for ever.
PAGE_LIMIT = 500
# As many seconds as taking leave may cost.
FAREWELL = 1.0
# As much of a stranger's words as we repeat.
WORDS = 100
REDIRECTS = range(300, 400)


@dataclass(frozen=True, slots=True)
class Answers:
    """What the server has said so far.

    `withheld` are lists that it refused, with its reason; `endless` are those that
    went on for more pages than are read.
    """

    document: Document
    withheld: dict[str, str] = field(default_factory=dict)
    endless: list[str] = field(default_factory=list)

    @property
    def problem(self) -> str:
        each = (f"{name} ({why[:WORDS]})" for name, why in self.withheld.items())
        words = [f"the server did not list its {', '.join(each)}"] * bool(self.withheld)
        for name in self.endless:
            words.append(f"of its {name} only {PAGE_LIMIT} pages were read")
        return "; ".join(words)

    def introspection(self) -> Introspection:
        return Introspection(self.document, self.problem, frozenset(self.withheld))


@dataclass
class Trace:
    """What became of asking: each status, and the last answer word for word."""

    seen: list[int] = field(default_factory=list)
    spoke: bool = False
    answer: Document | None = None
    refusal: str = ""

    @property
    def is_closed(self) -> bool:
        return any(status in CLOSED for status in self.seen)

    def forget(self) -> None:
        self.answer, self.refusal = None, ""

    def hear(self, item: Any) -> Any:
        message = getattr(item, "message", None)
        if isinstance(result := getattr(message, "result", None), dict):
            self.answer, self.spoke = result, True
        elif error := getattr(message, "error", None):
            self.refusal = error.message or "no reason given"
        return item


class RecordingTransport:
    """A transport of the SDK's: all passes, and what the server says is heard."""

    def __init__(self, transport: Any, trace: Trace) -> None:
        self.transport, self.trace = transport, trace

    async def __aenter__(self) -> tuple["RecordingStream", Any]:
        stream, write = await self.transport.__aenter__()
        return RecordingStream(stream, self.trace), write

    async def __aexit__(self, *failure: Any) -> Any:
        return await self.transport.__aexit__(*failure)


class RecordingStream:
    """The stream of what comes in; its models leave out what they do not know."""

    def __init__(self, stream: Any, trace: Trace) -> None:
        self.stream, self.trace = stream, trace

    def __aiter__(self) -> "RecordingStream":
        return self

    async def __anext__(self) -> Any:
        return self.trace.hear(await anext(self.stream))

    async def receive(self) -> Any:
        return self.trace.hear(await self.stream.receive())

    async def aclose(self) -> None:
        await self.stream.aclose()

    async def __aenter__(self) -> "RecordingStream":
        await self.stream.__aenter__()
        return self

    async def __aexit__(self, *failure: Any) -> Any:
        return await self.stream.__aexit__(*failure)

    @property
    def last_context(self) -> Any:
        return getattr(self.stream, "last_context", None)


class MCPIntrospector(Introspector):
    """Speaks MCP with a running server, and completes server cards."""

    slug = "mcp"
    label = "MCP"

    async def introspect(self, url: str, authorization: str = "") -> Introspection:
        return await introspect(url, authorization)

    def complete(self, card: Document, answer: Document) -> Document:
        return complete_card(card, answer)

    def is_completed(self, document: Document) -> bool:
        return is_completed(document)

    def preserve_introspected(self, document: Document, stored: Document) -> Document:
        return preserve_introspected(document, stored)


async def introspect(url: str, authorization: str = "") -> Introspection:
    """Speak MCP with the server at a URL; `authorization` is for this once."""
    check_url(url)
    seconds = conf.FETCH_TIMEOUT
    trace = Trace()
    try:
        async with asyncio.timeout(seconds):
            answers = await ask_server(url, authorization, trace)
            return answers.introspection()
    except TimeoutError as error:
        raise FetchTimeout(f"{host_of(url)} did not answer in {seconds:g} s") from error
    except Exception as error:
        raise reason(url, error, trace) from error


async def ask_server(url: str, authorization: str, trace: Trace) -> Answers:
    """Over the transport of today, or else over that of 2024."""
    # Heavy, and of no use to anything else: not before it is needed.
    from mcp.client.sse import sse_client  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    def http(
        headers: Any = None, timeout: Any = None, auth: Any = None
    ) -> httpx2.AsyncClient:
        """Ours, whatever the SDK would have."""
        return client_for(authorization, trace.seen)

    try:
        async with http() as client:
            transport = streamable_http_client(url, http_client=client)
            return await ask_over(transport, url, trace)
    except Exception:
        seen = trace.seen
        if not seen or seen[-1] not in NO_SUCH_PLACE or trace.spoke:
            raise
    transport = sse_client(url, httpx_client_factory=http)
    return await ask_over(transport, url, trace)


def client_for(authorization: str, seen: list[int]) -> httpx2.AsyncClient:
    async def note(response: httpx2.Response) -> None:
        seen.append(response.status_code)

    headers = {"Authorization": authorization} if authorization else {}
    hooks = {"response": [note]}
    return guarded_client(BoundedTransport(), headers=headers, event_hooks=hooks)


async def ask_over(transport: Any, url: str, trace: Trace) -> Answers:
    from mcp import Client  # noqa: PLC0415

    line, answers = RecordingTransport(transport, trace), None
    try:
        async with (
            asyncio.timeout(None) as patience,
            Client(line, cache=None) as client,
        ):
            answers = await read_server(url, client, trace)
            # Some never let go; by then all is said.
            patience.reschedule(asyncio.get_running_loop().time() + FAREWELL)
    except TimeoutError:
        if answers is None:
            raise
    return answers


async def read_server(url: str, client: "Client", trace: Trace) -> Answers:
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
    answers = Answers(
        {
            "serverInfo": plain(client.server_info) if client.server_info else {},
            "protocolVersion": client.protocol_version,
            "capabilities": capabilities,
            "instructions": client.instructions or "",
            "url": url,
        }
    )
    for name, method in lists.items():
        await add_list(answers, name, method, trace)
    return answers


async def add_list(
    answers: Answers, name: str, method: Callable[..., Awaitable[Any]], trace: Trace
) -> None:
    """All of it, or the server's own words for why there is none."""
    from mcp import MCPError  # noqa: PLC0415

    try:
        answers.document[name], is_whole = await every(name, method, trace)
        if not is_whole:
            answers.endless.append(name)
    except MCPError:
        if not trace.refusal or trace.is_closed:
            raise
        if name == "resourceTemplates":
            # Declared with their kin, and yet not every server has them.
            answers.document[name] = []
        else:
            answers.withheld[name] = trace.refusal


async def every(
    name: str, method: Callable[..., Awaitable[Any]], trace: Trace
) -> tuple[list[Any], bool]:
    """All pages of a list, and whether there were no more than we read.

    A server that goes round in circles is stopped.
    """
    items: list[Any] = []
    cursors: set[str | None] = {None}
    cursor: str | None = None
    while len(items) <= CAPABILITY_LIMIT and len(cursors) <= PAGE_LIMIT:
        page = await page_of(method, cursor, trace)
        listed, cursor = page.get(name), page.get("nextCursor")
        items += listed if isinstance(listed, list) else []
        if not isinstance(cursor, str) or not cursor or cursor in cursors:
            return items, True
        cursors.add(cursor)
    return items, False


async def page_of(
    method: Callable[..., Awaitable[Any]], cursor: str | None, trace: Trace
) -> Document:
    """As the server said it: one item that is not right spoils no other."""
    from pydantic import ValidationError  # noqa: PLC0415

    trace.forget()
    with suppress(ValidationError):
        await method(cursor=cursor)
    return trace.answer or {}


def plain(model: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = model.model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    return dumped


def reason(url: str, error: BaseException, trace: Trace) -> FetchError:
    """Which of our errors it is, however deep the client wrapped it."""
    inner, host = list(leaves(error)), host_of(url)
    ours = next((leaf for leaf in inner if isinstance(leaf, FetchError)), None)
    if ours:
        return ours
    if trace.is_closed:
        return AuthorizationNeeded(f"{host} asks for authorisation")
    if any(isinstance(leaf, httpx2.TimeoutException) for leaf in inner):
        return FetchTimeout(f"{host} did not answer in time")
    if trace.spoke:
        return ConversationInterrupted(f"{host} speaks MCP, but broke off")
    if any(isinstance(leaf, httpx2.ConnectError) for leaf in inner):
        return FetchFailed(f"Could not connect to {host}")
    elsewhere = trace.seen and trace.seen[-1] in REDIRECTS
    words = "sends MCP clients elsewhere: give that address"
    return NothingThere(f"{host} {words if elsewhere else 'does not speak MCP'}")


def leaves(error: BaseException) -> list[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for part in error.exceptions for leaf in leaves(part)]

"""Recording of what an MCP server sends during an introspection."""

from dataclasses import dataclass, field
from typing import Any, cast

import httpx2

from capabilities.problems import Document

from ...outbound import (
    AUTHORIZATION_STATUSES,
    BoundedTransport,
    RequestRefused,
    read_refusal,
)
from .negotiation import get_revision


@dataclass
class Trace:
    """HTTP statuses and MCP messages received during an introspection."""

    statuses: list[int] = field(default_factory=list)
    # Whether the server sent any MCP result.
    has_mcp_result: bool = False
    # The last result as the server sent it.
    result: Document | None = None
    # The last error message of the server.
    error: str = ""
    # The ID of the open session, and the revision that it uses.
    session_id: str = ""
    revision: str = ""
    # The first response with status 401 or 403.
    refusal: RequestRefused | None = None

    def reset(self) -> None:
        self.result, self.error = None, ""

    def record(self, incoming: Any) -> Any:
        """Record what the SDK received, and return it."""
        message = getattr(incoming, "message", None)
        if isinstance(result := getattr(message, "result", None), dict):
            self.result, self.has_mcp_result = result, True
            self.revision = self.revision or get_revision({"result": result})
        elif error := getattr(message, "error", None):
            self.error = error.message or "no reason given"
        return incoming


class RefusalRecorder(BoundedTransport):
    """A transport that records the first refusal and drops the bodies of refusals."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self.trace = trace

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if response.status_code in AUTHORIZATION_STATUSES:
            stream = cast(httpx2.AsyncByteStream, response.stream)
            if self.trace.refusal is None:
                chunks = aiter(stream)
                self.trace.refusal = await read_refusal(request, response, chunks)
            await stream.aclose()
            response.stream = httpx2.ByteStream(b"")
        return response


class RecordingTransport:
    """Wraps an SDK transport so that incoming messages are recorded in a trace."""

    def __init__(self, transport: Any, trace: Trace) -> None:
        self.transport, self.trace = transport, trace

    async def __aenter__(self) -> tuple["RecordingStream", Any]:
        stream, write = await self.transport.__aenter__()
        return RecordingStream(stream, self.trace), write

    async def __aexit__(self, *failure: Any) -> Any:
        return await self.transport.__aexit__(*failure)


class RecordingStream:
    """Wraps an incoming stream and records its messages.

    The SDK's models drop unknown members, so the results are taken from here.
    """

    def __init__(self, stream: Any, trace: Trace) -> None:
        self.stream, self.trace = stream, trace

    def __aiter__(self) -> "RecordingStream":
        return self

    async def __anext__(self) -> Any:
        return self.trace.record(await anext(self.stream))

    async def receive(self) -> Any:
        return self.trace.record(await self.stream.receive())

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

"""Read request bodies in the event loop, before a thread handles the request."""

from asgiref.typing import (
    ASGI3Application,
    ASGIReceiveCallable,
    ASGIReceiveEvent,
    ASGISendCallable,
    HTTPRequestEvent,
    HTTPScope,
    Scope,
)
from django.conf import settings


def buffer_request_body(app: ASGI3Application) -> ASGI3Application:
    """Wrap an ASGI application so that it gets each request body in one piece.

    A slow client then occupies a socket, but no thread. A chunked request gets a
    Content-Length.
    """

    async def wrapped(
        scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        if scope["type"] != "http" or get_declared_length(scope) > get_body_limit():
            # Django rejects the request by its Content-Length, without the body.
            await app(scope, receive, send)
            return
        body = await read_body(receive)
        if body is None:
            return
        scope = with_content_length(scope, len(body))
        await app(scope, replay_body(body, receive), send)

    return wrapped


def get_body_limit() -> int:
    limit: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    return limit


def get_declared_length(scope: HTTPScope) -> int:
    length = dict(scope["headers"]).get(b"content-length", b"0")
    return int(length) if length.isdigit() else 0


async def read_body(receive: ASGIReceiveCallable) -> bytes | None:
    """Return the body, or None if the client disconnected.

    Reading stops after the first message that exceeds the limit.
    """
    body, more_body = b"", True
    while more_body and len(body) <= get_body_limit():
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        more_body = message.get("more_body", False)
    return body


def with_content_length(scope: HTTPScope, length: int) -> HTTPScope:
    length_headers = (b"content-length", b"transfer-encoding")
    headers = [header for header in scope["headers"] if header[0] not in length_headers]
    headers.append((b"content-length", str(length).encode()))
    return {**scope, "headers": headers}


def replay_body(body: bytes, receive: ASGIReceiveCallable) -> ASGIReceiveCallable:
    """Return a `receive` that yields the body first, then the client's messages."""
    message: HTTPRequestEvent = {
        "type": "http.request",
        "body": body,
        "more_body": False,
    }
    pending = [message]

    async def receive_replayed() -> ASGIReceiveEvent:
        return pending.pop() if pending else await receive()

    return receive_replayed

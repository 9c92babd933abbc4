"""Request bodies are read whole before a thread is spent on them."""

from django.conf import settings


def read_whole(app):
    """A slow sender costs a socket, not a thread; a chunked body gets its length."""

    async def wrapped(scope, receive, send):
        if scope["type"] != "http" or declared_length(scope) > limit():
            # Too long by its own word: Django refuses it without reading on.
            return await app(scope, receive, send)
        body = await read(receive)
        if body is None:
            return None
        return await app(with_length(scope, len(body)), replay(body, receive), send)

    return wrapped


def limit() -> int:
    return settings.DATA_UPLOAD_MAX_MEMORY_SIZE


def declared_length(scope) -> int:
    given = dict(scope["headers"]).get(b"content-length", b"0")
    return int(given) if given.isdigit() else 0


async def read(receive) -> bytes | None:
    """The body, up to a little over the limit; None when the sender went away."""
    body, more = b"", True
    while more and len(body) <= limit():
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def with_length(scope, length: int):
    about_length = (b"content-length", b"transfer-encoding")
    others = [
        (name, value) for name, value in scope["headers"] if name not in about_length
    ]
    return {**scope, "headers": [*others, (b"content-length", str(length).encode())]}


def replay(body: bytes, receive):
    """Hands the body over once, and after that whatever the sender says."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again():
        return waiting.pop() if waiting else await receive()

    return receive_again

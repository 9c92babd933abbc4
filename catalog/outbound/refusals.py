"""Responses with status 401 and 403: what the server requires, or why it refuses."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

import httpx2

from .errors import AuthorizationRequired, FetchError, RequestRefused

# Statuses of a server that requires authorization or refuses a request.
AUTHORIZATION_STATUSES = (401, 403)
UNAUTHORIZED = 401
QUOTE_LIMIT = 100
# How much of a body is read to find the reason, and the seconds to wait for it.
REASON_BYTES_LIMIT = 2_000
REASON_TIMEOUT = 1.0


async def read_refusal(
    request: httpx2.Request, response: httpx2.Response, chunks: AsyncIterator[bytes]
) -> RequestRefused:
    """Return the error for a response with status 401 or 403.

    Only a 401 or a `WWW-Authenticate` header says that authorization is required.
    """
    host, status = request.url.host, response.status_code
    challenge = response.headers.get("WWW-Authenticate", "")
    if status == UNAUTHORIZED or challenge:
        return AuthorizationRequired(
            f"{host} returned HTTP {status}: authorization is required",
            status=status,
            summary=f"HTTP {status}, requires authorization",
            challenge=challenge,
        )
    summary = f"refused the request (HTTP {status})"
    if may_quote_response(request, response.headers):
        reason = find_reason(await read_start(chunks))
        summary += f": {reason}" if reason else ""
    return RequestRefused(f"{host} {summary}", status=status, summary=summary)


def may_quote_response(request: httpx2.Request, headers: Mapping[str, str]) -> bool:
    """Return whether the response can neither repeat a secret nor be compressed."""
    has_secret = "Authorization" in request.headers or request.url.query
    is_plain = headers.get("Content-Encoding", "identity") == "identity"
    return is_plain and not has_secret


async def read_start(chunks: AsyncIterator[bytes]) -> bytes:
    """Return the first bytes of a body, or what has arrived after a short time."""
    start = bytearray()
    with suppress(TimeoutError, httpx2.HTTPError, FetchError, OSError):
        async with asyncio.timeout(REASON_TIMEOUT):
            async for chunk in chunks:
                start += chunk[:REASON_BYTES_LIMIT]
                if len(start) >= REASON_BYTES_LIMIT:
                    break
    return bytes(start[:REASON_BYTES_LIMIT])


def find_reason(body: bytes) -> str:
    """Return the first line of a text, or the message of a JSON error.

    Return "" for anything else, such as HTML. The reason is short and printable.
    """
    text = body.decode(errors="replace").strip()
    if text.startswith("{"):
        text = find_error_message(text)
    if not text or text[0] in "<[{\ufffd":
        return ""
    line = text.splitlines()[0]
    printable = "".join(character for character in line if character.isprintable())
    reason = printable.strip().rstrip(".")
    if len(reason) <= QUOTE_LIMIT:
        return reason
    return reason[: QUOTE_LIMIT - 1] + "…"


def find_error_message(text: str) -> str:
    """Return the message of a JSON-RPC error, or of an object with `error`."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    error = document.get("error") if isinstance(document, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    return message.strip() if isinstance(message, str) else ""

"""Send health requests, and read no more of the responses than necessary."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import httpx2

from capabilities.event_streams import FirstEventReader
from capabilities.health_requests import (
    EVENT_STREAM_TYPE,
    HealthRequest,
    HealthResponse,
)

from .errors import FetchFailed
from .http import REDIRECT_LIMIT, check_url, get_host, get_origin, iter_bounded_body

# Sent with every request, because other encodings cannot be decompressed here.
ENCODING_HEADERS = {"Accept-Encoding": "gzip"}


@asynccontextmanager
async def open_response(
    client: httpx2.AsyncClient,
    health_request: HealthRequest,
    *,
    within_origin: bool = False,
) -> AsyncIterator[httpx2.Response]:
    """Send a request and follow redirects; yield the final response, without body.

    With `within_origin`, a redirect to another origin is not followed, but yielded.
    """
    request = client.build_request(
        health_request.method,
        health_request.url,
        json=health_request.body,
        headers=ENCODING_HEADERS | health_request.headers,
    )
    for _ in range(REDIRECT_LIMIT + 1):
        check_url(str(request.url))
        response = await client.send(request, stream=True)
        try:
            next_request = response.next_request
            if next_request is None or (
                within_origin
                and get_origin(str(next_request.url)) != get_origin(str(request.url))
            ):
                yield response
                return
            request = next_request
        finally:
            await response.aclose()
    raise FetchFailed(f"Redirects more than {REDIRECT_LIMIT} times")


async def read_health_response(
    response: httpx2.Response, *, needs_body: bool = True
) -> HealthResponse:
    """Return the response with its body, or with the first event of a stream."""
    media_type = response.headers.get("Content-Type", "").partition(";")[0]
    content_type = media_type.strip().lower()
    status = response.status_code
    if not needs_body:
        return HealthResponse(status, content_type)
    reader, body = FirstEventReader(), bytearray()
    async with aclosing(
        iter_bounded_body(response, get_host(str(response.url)))
    ) as chunks:
        async for chunk in chunks:
            if content_type != EVENT_STREAM_TYPE:
                body += chunk
            elif event := reader.feed(chunk):
                return HealthResponse(status, content_type, event.data, event.name)
    return HealthResponse(status, content_type, bytes(body))

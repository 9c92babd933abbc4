"""The HTTP client for agents; it connects to allowed addresses only."""

import asyncio
import ssl
import zlib
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpcore2
import httpx2

from capabilities.documents import DOCUMENT_BYTES_LIMIT
from capabilities.problems import find_url_error

from ..conf import conf
from .address_guard import resolve_allowed
from .errors import (
    FetchFailed,
    FetchTimeout,
    HostNotFound,
    HostUnreachable,
    NoDefinitionAtUrl,
    UrlNotAllowed,
)
from .refusals import AUTHORIZATION_STATUSES, read_refusal

REDIRECT_LIMIT = 3
NOT_MODIFIED = 304
# Statuses of a server that has nothing at a URL, or nothing for a GET.
NO_DEFINITION_STATUSES = (400, 404, 405, 406, 410, 501)
ETAG_LIMIT = 500


@dataclass(frozen=True, slots=True)
class FetchResult:
    """A fetched document; the body is empty if it was not modified."""

    url: str
    body: bytes
    etag: str = ""
    not_modified: bool = False


async def fetch(url: str, etag: str = "", authorization: str = "") -> FetchResult:
    """GET a document, conditionally if an ETag is given; raise FetchError on failure.

    `authorization` is the header's value; it is sent to the URL's own origin only.
    """
    seconds = conf.FETCH_TIMEOUT
    host = get_host(url)
    try:
        async with asyncio.timeout(seconds), create_guarded_client() as client:
            return await fetch_with_redirects(client, url, etag, authorization)
    except (TimeoutError, httpx2.TimeoutException) as error:
        raise FetchTimeout(
            f"{host} did not respond within {seconds:g} s",
            summary=f"Timed out after {seconds:g} s",
        ) from error
    except (httpx2.InvalidURL, ValueError) as error:
        # httpx2 raises a ValueError for some invalid hosts, also after a redirect.
        raise UrlNotAllowed("The URL is not valid") from error
    except httpx2.ProtocolError as error:
        # The error's own text is not used: it quotes what the server sent.
        raise FetchFailed(f"{host} did not send a valid HTTP response") from error
    except (httpx2.HTTPError, OSError) as error:
        reason = str(error) or type(error).__name__
        is_unreachable = isinstance(error, httpx2.ConnectError)
        error_class = HostUnreachable if is_unreachable else FetchFailed
        raise error_class(
            f"Could not fetch from {host}: {reason}", summary=reason
        ) from error


def create_guarded_client(
    transport: "GuardedTransport | None" = None, **options: Any
) -> httpx2.AsyncClient:
    """Return an HTTP client that connects to allowed addresses only."""
    return httpx2.AsyncClient(
        transport=transport or GuardedTransport(),
        follow_redirects=False,
        # For the MCP client, which follows redirects itself, within one origin.
        max_redirects=REDIRECT_LIMIT,
        trust_env=False,
        timeout=conf.FETCH_TIMEOUT,
        **options,
    )


async def fetch_with_redirects(
    client: httpx2.AsyncClient, url: str, etag: str, authorization: str
) -> FetchResult:
    """GET the URL and follow a limited number of redirects, checking each URL."""
    headers = {"Accept": "application/json, */*;q=0.5", "Accept-Encoding": "gzip"}
    if etag:
        headers["If-None-Match"] = etag
    next_url = url
    for _ in range(REDIRECT_LIMIT + 1):
        check_url(next_url)
        is_trusted = authorization and get_origin(next_url) == get_origin(url)
        credentials = {"Authorization": authorization} if is_trusted else {}
        request_headers = headers | credentials
        async with client.stream("GET", next_url, headers=request_headers) as response:
            if response.next_request is None:
                return await read_response(url, response)
            next_url = str(response.next_request.url)
    raise FetchFailed(f"{get_host(url)} redirects more than {REDIRECT_LIMIT} times")


async def read_response(url: str, response: httpx2.Response) -> FetchResult:
    """Return the result of a final response; raise FetchFailed if it is not usable."""
    host, status = get_host(url), response.status_code
    sent_etag = response.request.headers.get("If-None-Match")
    if sent_etag and status == NOT_MODIFIED:
        return FetchResult(url, b"", sent_etag, not_modified=True)
    if status in AUTHORIZATION_STATUSES:
        raise await read_refusal(response.request, response, response.aiter_raw())
    if status != httpx2.codes.OK:
        is_missing = status in NO_DEFINITION_STATUSES
        error_class = NoDefinitionAtUrl if is_missing else FetchFailed
        raise error_class(
            f"{host} returned HTTP {status}", status=status, summary=f"HTTP {status}"
        )
    if response.headers.get("Content-Type", "").startswith("text/event-stream"):
        # It may never end: MCP servers open an event stream for any GET.
        raise FetchFailed(
            f"{host} returned an event stream instead of a document",
            status=status,
            summary=f"{status}, an event stream instead of JSON",
        )
    body = await read_bounded_body(response, host)
    return FetchResult(url, body, get_etag(response))


def get_etag(response: httpx2.Response) -> str:
    """Return the ETag, or "" if it cannot be stored and sent back."""
    etag = response.headers.get("ETag", "")
    is_usable = len(etag) <= ETAG_LIMIT and etag.isascii() and etag.isprintable()
    return etag if is_usable else ""


async def read_bounded_body(response: httpx2.Response, host: str) -> bytes:
    """Return the decompressed body; raise FetchFailed if it is too large."""
    return b"".join([chunk async for chunk in iter_bounded_body(response, host)])


async def iter_bounded_body(
    response: httpx2.Response, host: str
) -> AsyncGenerator[bytes, None]:
    """Yield the decompressed chunks of a body; raise FetchFailed if it is too large.

    The body is not decompressed by httpx2, which has no limit: a small compressed chunk
    can become very large.
    """
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise FetchFailed(
            f"The response of {host} has an unknown encoding: {encoding[:40]}"
        )
    chunks: AsyncIterator[bytes] = response.aiter_raw()
    if encoding not in ("identity", ""):
        chunks = decompress(chunks, host)
    byte_count = 0
    async for chunk in chunks:
        byte_count += len(chunk)
        if byte_count > DOCUMENT_BYTES_LIMIT:
            raise FetchFailed(
                f"The response of {host} is larger than {DOCUMENT_BYTES_LIMIT} bytes"
            )
        yield chunk


async def decompress(chunks: AsyncIterator[bytes], host: str) -> AsyncIterator[bytes]:
    # 32 is added to the window size to detect gzip or zlib by its header.
    decompressor = zlib.decompressobj(32 + zlib.MAX_WBITS)
    try:
        async for chunk in chunks:
            yield decompressor.decompress(chunk, DOCUMENT_BYTES_LIMIT + 1)
            if decompressor.unused_data:
                break
    except zlib.error as error:
        raise FetchFailed(
            f"The response of {host} is not valid gzip or deflate"
        ) from error
    if decompressor.unused_data or not decompressor.eof:
        raise FetchFailed(
            f"The compressed response of {host} is truncated or followed by more data"
        )


def check_url(url: str) -> None:
    """Raise UrlNotAllowed unless it is an http(s) URL without credentials."""
    if error := find_url_error(url):
        raise UrlNotAllowed(f"The URL {error}")
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:
        raise UrlNotAllowed("The URL must not contain a username or password")


def find_authorization_error(text: str) -> str:
    """Return why the text cannot be an `Authorization` header, or "" if it can."""
    is_valid = text.isascii() and text.isprintable()
    return "" if is_valid else "must be plain ASCII on one line"


def get_host(url: str) -> str:
    """Return the URL's host for a message, without parts that may be secret."""
    try:
        return urlsplit(url).hostname or "the host"
    except ValueError:
        return "the host"


def get_origin(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port: credentials are valid for one origin."""
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    port = parts.port or {"http": 80, "https": 443}.get(scheme)
    return scheme, parts.hostname or "", port


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """A transport that connects to the checked addresses, without a second lookup."""

    def __init__(self) -> None:
        super().__init__(verify=get_tls_context())
        # httpx2 has no public option for a network backend.
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=get_tls_context(), network_backend=GuardedBackend()
        )


class BoundedTransport(GuardedTransport):
    """A transport that limits the size of all responses and rejects compressed ones."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes_left = DOCUMENT_BYTES_LIMIT

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["Accept-Encoding"] = "identity"
        response = await super().handle_async_request(request)
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise FetchFailed(
                f"The response of {request.url.host} is compressed, although not"
                " requested"
            )
        response.stream = BoundedStream(response.stream, self, request.url.host)
        return response


class BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: Any, transport: BoundedTransport, host: str) -> None:
        self.stream, self.transport, self.host = stream, transport, host

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self.stream:
            self.transport.bytes_left -= len(chunk)
            if self.transport.bytes_left < 0:
                raise FetchFailed(
                    f"The responses of {self.host} are larger than"
                    f" {DOCUMENT_BYTES_LIMIT} bytes"
                )
            yield chunk

    async def aclose(self) -> None:
        await self.stream.aclose()


@cache
def get_tls_context() -> ssl.SSLContext:
    """Return one shared context, because loading the CA certificates is slow."""
    return httpcore2.default_ssl_context()


class GuardedBackend(httpcore2.AnyIOBackend):
    """A network backend that connects to the allowed addresses of a host."""

    async def connect_tcp(
        self, host: str, port: int, *args: Any, **kwargs: Any
    ) -> httpcore2.AsyncNetworkStream:
        last_error: Exception | None = None
        for address in await resolve_allowed(host, port):
            try:
                return await super().connect_tcp(str(address), port, *args, **kwargs)
            except httpcore2.ConnectError as error:
                last_error = error
        raise last_error or HostNotFound("DNS lookup returned no address")

    async def connect_unix_socket(self, *args: Any, **kwargs: Any) -> Any:
        raise UrlNotAllowed("Only network addresses are allowed")

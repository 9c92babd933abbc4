"""The guarded way out: nothing else opens a connection to an agent."""

import asyncio
import ssl
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpcore2
import httpx2

from capabilities.documents import BYTES_LIMIT
from capabilities.problems import url_fault

from ..conf import conf
from .address_guard import checked_addresses
from .errors import (
    AuthorizationNeeded,
    FetchFailed,
    FetchTimeout,
    NoAddress,
    NothingThere,
    UrlNotAllowed,
)

REDIRECT_LIMIT = 3
NOT_MODIFIED = 304
# How one answers who tells only those it knows.
CLOSED = (401, 403)
# How one answers who has nothing at a place, or nothing for a GET.
NOTHING = (400, 404, 405, 406, 410, 501)
ETAG_LIMIT = 500


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came back; with an empty body when it is what we already had."""

    url: str
    body: bytes
    etag: str = ""
    not_modified: bool = False


async def fetch(url: str, etag: str = "", authorization: str = "") -> Fetched:
    """GET a definition, or learn that the one with this ETag still holds.

    `authorization` is for this host alone.
    """
    seconds = conf.FETCH_TIMEOUT
    try:
        async with asyncio.timeout(seconds), guarded_client() as client:
            return await follow(client, url, etag, authorization)
    except (TimeoutError, httpx2.TimeoutException) as error:
        raise FetchTimeout(f"{host_of(url)} did not answer in {seconds:g} s") from error
    except (httpx2.InvalidURL, ValueError) as error:
        # Some odd hosts, given or redirected to, trip httpx2 itself: a ValueError.
        raise UrlNotAllowed("The URL must be a valid URL") from error
    except httpx2.ProtocolError as error:
        # Its own words quote what the other side sent, which could be anything.
        raise FetchFailed(f"{host_of(url)} does not answer in proper HTTP") from error
    except (httpx2.HTTPError, OSError) as error:
        reason = str(error) or type(error).__name__
        raise FetchFailed(f"Could not fetch from {host_of(url)}: {reason}") from error


def guarded_client(
    transport: "GuardedTransport | None" = None, **options: Any
) -> httpx2.AsyncClient:
    """An HTTP client that can only reach where we are allowed to go."""
    return httpx2.AsyncClient(
        transport=transport or GuardedTransport(),
        follow_redirects=False,
        # For the MCP client, which follows all the same, if only within one origin.
        max_redirects=REDIRECT_LIMIT,
        trust_env=False,
        timeout=conf.FETCH_TIMEOUT,
        **options,
    )


async def follow(
    client: httpx2.AsyncClient, url: str, etag: str, authorization: str
) -> Fetched:
    """Ask, and ask again where the answer points, a few times."""
    headers = {"Accept": "application/json, */*;q=0.5", "Accept-Encoding": "gzip"}
    if etag:
        headers["If-None-Match"] = etag
    place = url
    for _ in range(REDIRECT_LIMIT + 1):
        check_url(place)
        trusted = authorization and origin_of(place) == origin_of(url)
        secret = {"Authorization": authorization} if trusted else {}
        async with client.stream("GET", place, headers=headers | secret) as response:
            if response.next_request is None:
                return await answer(url, response)
            place = str(response.next_request.url)
    raise FetchFailed(f"{host_of(url)} redirects more than {REDIRECT_LIMIT} times")


async def answer(url: str, response: httpx2.Response) -> Fetched:
    held = response.request.headers.get("If-None-Match")
    if held and response.status_code == NOT_MODIFIED:
        return Fetched(url, b"", held, not_modified=True)
    if response.status_code in CLOSED:
        message = f"{host_of(url)} answered HTTP {response.status_code}"
        raise AuthorizationNeeded(f"{message}: it asks for authorisation")
    if response.status_code != httpx2.codes.OK:
        kind = NothingThere if response.status_code in NOTHING else FetchFailed
        raise kind(f"{host_of(url)} answered HTTP {response.status_code}")
    if response.headers.get("Content-Type", "").startswith("text/event-stream"):
        # It may never end; servers of MCP open one for whoever comes by.
        raise FetchFailed(f"{host_of(url)} answered with a stream of events")
    return Fetched(url, await bounded_body(response), etag_of(response))


def etag_of(response: httpx2.Response) -> str:
    """The ETag, if it is one that we can keep and send back."""
    etag = response.headers.get("ETag", "")
    fit = len(etag) <= ETAG_LIMIT and etag.isascii() and etag.isprintable()
    return etag if fit else ""


async def bounded_body(response: httpx2.Response) -> bytes:
    """The body, unpacked by us: a bomb stops at the limit, not in memory."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise FetchFailed(f"The answer has an unknown encoding: {encoding[:40]}")
    packed = encoding not in ("identity", "")
    chunks = response.aiter_raw()
    body = bytearray()
    async for chunk in unpacked(chunks) if packed else chunks:
        body += chunk
        if len(body) > BYTES_LIMIT:
            raise FetchFailed(f"The answer is larger than {BYTES_LIMIT} bytes")
    return bytes(body)


async def unpacked(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    # 32 added to the window size: tell gzip from zlib by its header.
    unpacker = zlib.decompressobj(32 + zlib.MAX_WBITS)
    try:
        async for chunk in chunks:
            yield unpacker.decompress(chunk, BYTES_LIMIT + 1)
            if unpacker.unused_data:
                break
    except zlib.error as error:
        raise FetchFailed("The answer is not what its encoding says") from error
    if unpacker.unused_data or not unpacker.eof:
        raise FetchFailed("The answer is not all of, and only, what was packed")


def check_url(url: str) -> None:
    """Refuse what is no plain web address, before any look-up."""
    if fault := url_fault(url):
        raise UrlNotAllowed(f"The URL {fault}")
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:
        raise UrlNotAllowed("The URL must not carry a user name or password")


def authorization_fault(text: str) -> str:
    """What keeps a text from being a header's value, or an empty string."""
    fit = text.isascii() and text.isprintable()
    return "" if fit else "must be plain ASCII on one line"


def host_of(url: str) -> str:
    """Enough of a URL for a message: no path, no query, no secrets."""
    try:
        return urlsplit(url).hostname or "the host"
    except ValueError:
        return "the host"


def origin_of(url: str) -> tuple[str, str, int | None]:
    """Whom a credential is for: scheme, host and port."""
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    port = parts.port or {"http": 80, "https": 443}.get(scheme)
    return scheme, parts.hostname or "", port


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """Connects only to addresses that were checked, and to none resolved again."""

    def __init__(self) -> None:
        super().__init__(verify=tls_context())
        # The one way in: httpx2 takes no network backend of its own.
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=tls_context(), network_backend=GuardedBackend()
        )


class BoundedTransport(GuardedTransport):
    """For clients that read whole answers: so much in all, and nothing packed."""

    def __init__(self) -> None:
        super().__init__()
        self.left = BYTES_LIMIT

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["Accept-Encoding"] = "identity"
        response = await super().handle_async_request(request)
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise FetchFailed("The answer is packed, which was not asked for")
        response.stream = BoundedStream(response.stream, self)
        return response


class BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: Any, transport: BoundedTransport) -> None:
        self.stream, self.transport = stream, transport

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self.stream:
            self.transport.left -= len(chunk)
            if self.transport.left < 0:
                raise FetchFailed(f"The answers are larger than {BYTES_LIMIT} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self.stream.aclose()


@cache
def tls_context() -> ssl.SSLContext:
    """One for all: reading every known authority takes longer than many a fetch."""
    return httpcore2.default_ssl_context()


class GuardedBackend(httpcore2.AnyIOBackend):
    async def connect_tcp(
        self, host: str, port: int, *args: Any, **kwargs: Any
    ) -> httpcore2.AsyncNetworkStream:
        problem: Exception | None = None
        for address in await checked_addresses(host, port):
            try:
                return await super().connect_tcp(str(address), port, *args, **kwargs)
            except httpcore2.ConnectError as error:
                problem = error
        raise problem or NoAddress(f"{host} has no address")

    async def connect_unix_socket(self, *args: Any, **kwargs: Any) -> Any:
        raise UrlNotAllowed("Only network addresses are allowed")

"""Which declared URLs identify a server: relative, local and unfilled ones do not."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from ...interfaces import EndpointPolicy
from ...placeholders import find_url_template_error
from ...problems import (
    RELATIVE_URL_ERROR,
    Document,
    Problems,
    find_url_error,
    is_relative_url,
)
from ...records import is_loopback_host, is_web_url
from .nested_servers import read_nested_servers
from .registry_response import LocatedObject, unwrap_server
from .transports import (
    Transport,
    build_transport,
    read_nested_transports,
    read_transports,
)

REMOTE_PATH = re.compile(r"\.(?:remotes\[|transports\b|sse_url$)")
LOOPBACK_ERROR = "is a loopback address, which other machines cannot reach"


@dataclass(frozen=True, slots=True)
class ServerEndpointPolicy(EndpointPolicy):
    """Adds a supplied URL to definitions without a URL that identifies the server."""

    is_required: bool = False

    def with_endpoint(
        self, document: Document, endpoint: str, base_url: str = ""
    ) -> Document:
        if not is_web_url(endpoint):
            return document
        root, problems = unwrap_server(document), Problems(base_url=base_url)
        server, path = root
        nested = read_nested_servers(root, problems)
        transports = read_all_transports(root, nested, problems)
        declared = {transport.url for transport in transports if is_remote(transport)}
        if any(is_usable(transport) for transport in transports):
            return document
        if endpoint in declared or not has_replaceable_url(server):
            return document
        completed = {**server, "url": endpoint}
        return completed if path == "$" else {**document, "server": completed}


def has_replaceable_url(server: Document) -> bool:
    """Return whether `url` is missing, or relative to an unknown URL."""
    url = server.get("url")
    return url in (None, "") or (isinstance(url, str) and is_relative_url(url))


def read_all_transports(
    root: LocatedObject, nested: list[LocatedObject], problems: Problems
) -> list[Transport]:
    """Return the transports of a document, then those of the servers inside it."""
    transports = list(read_transports(root.members, problems, root.path))
    for members, path in nested:
        transports += read_nested_transports(members, problems, path)
    return list(prepare_transports(transports, problems))


def prepare_transports(
    transports: Iterable[Transport], problems: Problems
) -> Iterator[Transport]:
    """Yield the transports with absolute URLs; report unfilled templates in them.

    The URLs of packages stay as they are, because users fill them in.
    """
    for transport in transports:
        if ".packages[" in transport.path:
            yield transport
            continue
        absolute = resolve_transport(transport, problems)
        if message := find_url_template_error(absolute.url):
            problems.error(absolute.path, message)
            yield replace(absolute, error="")
        else:
            yield reject_local_remote(absolute, problems.base_url)


def resolve_transport(transport: Transport, problems: Problems) -> Transport:
    if not is_relative_url(transport.url):
        return transport
    url = problems.resolve_url(transport.url)
    if is_relative_url(url):
        return replace(transport, error=RELATIVE_URL_ERROR)
    return build_transport(transport.path, transport.type, url)


def is_usable(transport: Transport) -> bool:
    return bool(transport.url) and not transport.error


def is_remote(transport: Transport) -> bool:
    """Return whether a list of transports, or one for SSE, declares the URL.

    `url`, `serverUrl` and `endpoint` also say where a running server was queried.
    """
    return bool(REMOTE_PATH.search(transport.path))


def reject_local_remote(transport: Transport, base_url: str) -> Transport:
    """Return the transport, with an error for a remote on an unknown machine.

    A loopback address identifies a server only if its definition came from there: from
    the same host, or from the same port under another name of it.
    """
    if not is_remote(transport) or not is_usable(transport):
        return transport
    address = get_loopback_address(transport.url)
    origin = get_loopback_address(base_url)
    if not address:
        return transport
    if origin and (address[0] == origin[0] or address[1] == origin[1]):
        return transport
    return replace(transport, error=LOOPBACK_ERROR, is_deployment_specific=True)


def get_loopback_address(url: str) -> tuple[str, int] | tuple[()]:
    """Return host and port of a URL on a loopback address, () for all other texts."""
    if find_url_error(url):
        return ()
    parts = urlsplit(url)
    host = parts.hostname or ""
    if not is_loopback_host(host):
        return ()
    return host, parts.port or (443 if parts.scheme.lower() == "https" else 80)


def get_former_identities(
    transports: list[Transport], endpoint: str
) -> tuple[str, ...]:
    """Return the URL that earlier versions of AgentLens took as the endpoint."""
    for transport in transports:
        if is_usable(transport) or transport.error == LOOPBACK_ERROR:
            return () if transport.url == endpoint else (transport.url,)
    return ()

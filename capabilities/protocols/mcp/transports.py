"""Transports of an MCP server, and the endpoint that follows from them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from ...problems import Document, Problems, find_url_error, member_path
from ...records import is_loopback_host

STREAMABLE_HTTP = "streamable-http"
# Members with a URL of the server, and the type of its transport if that is known.
URL_MEMBERS = {"serverUrl": "", "url": "", "endpoint": "", "sse_url": "sse"}
VARIABLE = re.compile(r"\{[^{}\s]+\}")
# An http(s) URL in which any part may be a variable.
URL_TEMPLATE = re.compile(r"(?:https?://|\{)\S*", re.IGNORECASE)
URL_HOST = re.compile(r"https?://([^/?#]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Transport:
    """A declared transport; `error` says why its URL cannot be the endpoint."""

    path: str
    type: str = ""
    url: str = ""
    error: str = ""
    # Whether only the machine that runs the server knows the address. Such a URL is
    # valid, although it is not the endpoint.
    is_deployment_specific: bool = False


def read_transports(
    server: Document, problems: Problems, path: str
) -> Iterator[Transport]:
    """Yield every declared transport; the first usable URL will be the endpoint."""
    remotes = read_remotes(server, problems, path)
    yield from sorted(remotes, key=lambda remote: remote.type != STREAMABLE_HTTP)
    for key in ("transport", "transports"):
        value, key_path = server.get(key), member_path(path, key)
        if isinstance(value, dict) and is_transport_map(value):
            yield from read_transport_map(value, problems, key_path)
        else:
            yield from read_transport(value, problems, key_path)
    for key, transport_type in URL_MEMBERS.items():
        if server.get(key) not in (None, ""):
            yield build_transport(member_path(path, key), transport_type, server[key])
    yield from read_packages(server, problems, path)


def read_nested_transports(
    server: Document, problems: Problems, path: str
) -> Iterator[Transport]:
    """Yield the transports of a nested server, whose `type` is that of its URL."""
    yield from read_transports(server, problems, path)
    if transport_type := problems.string(server, "type", path):
        type_path = member_path(path, "type")
        yield Transport(type_path, normalize_transport_type(transport_type))


def read_remotes(
    server: Document, problems: Problems, path: str
) -> Iterator[Transport]:
    for remote_path, remote in problems.iter_objects(server, "remotes", path):
        transport_type = problems.string(remote, "type", remote_path)
        if not transport_type:
            transport_type = problems.string(remote, "transport_type", remote_path)
        url_path = member_path(remote_path, "url")
        yield build_transport(url_path, transport_type, remote.get("url"))


def read_packages(
    server: Document, problems: Problems, path: str
) -> Iterator[Transport]:
    """Yield the transports of packages, whose loopback URLs are not endpoints."""
    if not isinstance(server.get("packages") or [], list):
        problems.warning(member_path(path, "packages"), "should be a list; ignored")
        return
    for package_path, package in problems.iter_objects(server, "packages", path):
        transport_path = member_path(package_path, "transport")
        value = package.get("transport")
        for transport in read_transport(value, problems, transport_path):
            yield reject_loopback(transport)


def read_transport(value: Any, problems: Problems, path: str) -> Iterator[Transport]:
    """Yield the transports of a member that is an object, a type, or a list of them."""
    if isinstance(value, list):
        for index, member in enumerate(value):
            yield from read_transport(member, problems, f"{path}[{index}]")
    elif isinstance(value, str):
        yield Transport(path, normalize_transport_type(value))
    elif isinstance(value, dict):
        transport_type = problems.string(value, "type", path)
        yield Transport(path, normalize_transport_type(transport_type))
        for key in ("endpoint", "url"):
            if value.get(key):
                yield build_transport(
                    member_path(path, key), transport_type, value[key]
                )
    elif value is not None:
        problems.warning(path, "should be an object; ignored")


def is_transport_map(value: Document) -> bool:
    """Return whether the object has transports by type, as in `{"http": {...}}`."""
    return not {"type", "endpoint", "url"} & value.keys()


def read_transport_map(
    transports: Document, problems: Problems, path: str
) -> Iterator[Transport]:
    for key, value in transports.items():
        if isinstance(value, dict):
            transport = {"type": key} | value
            yield from read_transport(transport, problems, member_path(path, key))
        else:
            problems.warning(member_path(path, key), "should be an object; ignored")


def build_transport(path: str, transport_type: str, url: Any) -> Transport:
    """Return a transport with its URL, and with the error of the URL."""
    transport_type = normalize_transport_type(transport_type)
    if not isinstance(url, str) or not url:
        return Transport(path, transport_type, error="must be a non-empty string")
    error = find_url_error(url)
    if URL_TEMPLATE.fullmatch(url) and (
        has_variable_host(url) or (error and VARIABLE.search(url))
    ):
        error = "has variables in place of the host or port"
        return Transport(path, transport_type, url, error, is_deployment_specific=True)
    return Transport(path, transport_type, url, error)


def has_variable_host(url: str) -> bool:
    """Return whether the host has variables and no fixed domain.

    True for `https://{host}/mcp`, false for `https://{tenant}.example.com/mcp`.
    """
    host = URL_HOST.match(url)
    fixed_part, variable_count = VARIABLE.subn("", host[1] if host else url)
    return variable_count > 0 and (host is None or "." not in fixed_part.strip(".-:"))


def reject_loopback(transport: Transport) -> Transport:
    """Return the transport, with an error if its URL is a loopback address."""
    if not transport.url or transport.error:
        return transport
    if not is_loopback_host(urlsplit(transport.url).hostname or ""):
        return transport
    error = "is on the machine that runs the package"
    return replace(transport, error=error, is_deployment_specific=True)


def normalize_transport_type(text: str) -> str:
    """Return the type as MCP spells it: `streamable-http` for `streamableHttp`."""
    letters = re.sub(r"[^a-z]", "", text.lower())
    is_streamable = letters in ("streamable", "streamablehttp")
    return STREAMABLE_HTTP if is_streamable else text.strip()


def read_endpoint(
    transports: list[Transport], name: str, problems: Problems, path: str
) -> str:
    """Return the first usable URL, else an identifier with the name.

    Invalid URLs are errors only if no transport is usable or deployment-specific.
    """
    usable = [
        transport for transport in transports if transport.url and not transport.error
    ]
    invalid = [transport for transport in transports if transport.error]
    has_deployment_specific_url = any(
        transport.is_deployment_specific for transport in invalid
    )
    is_rejected = bool(invalid) and not usable and not has_deployment_specific_url
    for transport in invalid:
        if is_rejected:
            problems.error(transport.path, transport.error)
        else:
            message = f"{transport.error}; not used as the endpoint"
            problems.warning(transport.path, message)
    if usable:
        if VARIABLE.search(usable[0].url):
            message = "has variables, which clients must replace with values"
            problems.warning(usable[0].path, message)
        return usable[0].url
    if not is_rejected and not name:
        message = (
            "must be a non-empty string, because no URL here identifies a server and"
            " no endpoint is supplied"
        )
        problems.error(member_path(path, "name"), message)
    return f"mcp:{name}" if name and not is_rejected else ""

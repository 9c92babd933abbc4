"""How an MCP server is reached, and so what its endpoint is."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from ...problems import Document, Problems, member_path, url_error

STREAMABLE = "streamable-http"
VARIABLE = re.compile(r"\{[^{}\s]+\}")
# A web address, but for the variables in it.
TEMPLATE = re.compile(r"(?:https?://|\{)\S*", re.IGNORECASE)
HOST = re.compile(r"https?://([^/?#]*)", re.IGNORECASE)
OWN_MACHINE = re.compile(r"(.+\.)?localhost|127(\.[0-9]+){3}|0\.0\.0\.0|::1?")


@dataclass(frozen=True, slots=True)
class Transport:
    """A stated way in; `fault` tells why its URL is none that others could open."""

    path: str
    type: str = ""
    url: str = ""
    fault: str = ""
    # Legal all the same: the address is only known where the server runs.
    open_address: bool = False


def read_transports(
    document: Document, problems: Problems, at: str
) -> Iterator[Transport]:
    """Every stated transport, in the order in which they may be the endpoint."""
    remotes = read_remotes(document, problems, at)
    yield from sorted(remotes, key=lambda remote: remote.type != STREAMABLE)
    place = member_path(at, "transport")
    yield from read_transport(document.get("transport"), problems, place)
    for key in ("serverUrl", "url", "endpoint"):
        if document.get(key) not in (None, ""):
            yield judged(member_path(at, key), "", document[key])
    yield from read_packages(document, problems, at)


def read_remotes(
    document: Document, problems: Problems, at: str
) -> Iterator[Transport]:
    for path, remote in problems.iter_objects(document, "remotes", at):
        stated = problems.string(remote, "type", path)
        stated = stated or problems.string(remote, "transport_type", path)
        yield judged(member_path(path, "url"), stated, remote.get("url"))


def read_packages(
    document: Document, problems: Problems, at: str
) -> Iterator[Transport]:
    """Transports of what one installs; an address at home is nobody's endpoint."""
    if not isinstance(document.get("packages") or [], list):
        problems.warning(member_path(at, "packages"), "should be a list; ignored")
        return
    for path, package in problems.iter_objects(document, "packages", at):
        place = member_path(path, "transport")
        for transport in read_transport(package.get("transport"), problems, place):
            yield at_home(transport)


def read_transport(stated: Any, problems: Problems, path: str) -> Iterator[Transport]:
    """A transport as an object, by its mere type, or several of these."""
    if isinstance(stated, list):
        for n, item in enumerate(stated):
            yield from read_transport(item, problems, f"{path}[{n}]")
    elif isinstance(stated, str):
        yield Transport(path, normalize_transport_type(stated))
    elif isinstance(stated, dict):
        kind = problems.string(stated, "type", path)
        yield Transport(path, normalize_transport_type(kind))
        for key in ("endpoint", "url"):
            if stated.get(key):
                yield judged(member_path(path, key), kind, stated[key])
    elif stated is not None:
        problems.warning(path, "should be an object; ignored")


def judged(path: str, kind: str, url: Any) -> Transport:
    """A transport with its URL, and what is wrong with it."""
    kind = normalize_transport_type(kind)
    if not isinstance(url, str) or not url:
        return Transport(path, kind, fault="must be a non-empty string")
    fault = url_error(url)
    if TEMPLATE.fullmatch(url) and (is_open(url) or (fault and VARIABLE.search(url))):
        fault = "has variables in place of the host or port"
        return Transport(path, kind, url, fault, open_address=True)
    return Transport(path, kind, url, fault)


def is_open(url: str) -> bool:
    """Whether variables leave the host open: `https://{host}/mcp` is anybody's."""
    host = HOST.match(url)
    fixed, variables = VARIABLE.subn("", host[1] if host else url)
    return bool(variables) and (host is None or "." not in fixed.strip(".-:"))


def at_home(transport: Transport) -> Transport:
    if not transport.url or transport.fault:
        return transport
    if not OWN_MACHINE.fullmatch(urlsplit(transport.url).hostname or ""):
        return transport
    fault = "is on the machine that runs the package"
    return replace(transport, fault=fault, open_address=True)


def normalize_transport_type(kind: str) -> str:
    """A transport type in one spelling: `streamableHttp` is `streamable-http`."""
    letters = re.sub(r"[^a-z]", "", kind.lower())
    return STREAMABLE if letters in ("streamable", "streamablehttp") else kind.strip()


def read_endpoint(
    transports: list[Transport], name: str, problems: Problems, at: str
) -> str:
    """The first web address, else the name; unfit addresses are no reason for it."""
    fit = [stated for stated in transports if stated.url and not stated.fault]
    faulty = [stated for stated in transports if stated.fault]
    refused = faulty and not fit and not any(stated.open_address for stated in faulty)
    for stated in faulty:
        if refused:
            problems.error(stated.path, stated.fault)
        else:
            problems.warning(stated.path, f"{stated.fault}; not the endpoint")
    if fit:
        if VARIABLE.search(fit[0].url):
            message = "has variables: cannot be opened before they are filled in"
            problems.warning(fit[0].path, message)
        return fit[0].url
    if not refused and not name:
        message = "must be a non-empty string: there is no http(s) URL to go by"
        problems.error(member_path(at, "name"), message)
    return f"mcp:{name}" if name and not refused else ""

"""Which addresses may be visited: public ones, and those the operator allows."""

import asyncio
import ipaddress
import socket
from concurrent.futures import Future
from contextlib import suppress
from threading import Lock, Thread
from typing import Any
from urllib.parse import urlsplit

from ..conf import conf
from .errors import NoAddress, UrlNotAllowed

# Names under which clouds hand credentials to whoever asks from inside.
METADATA_HOSTS = {
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
}
# IPv6 ranges that carry an IPv4 address inside, and how far it is from the right end.
EMBEDDED_IPV4 = {
    ipaddress.ip_network("64:ff9b::/96"): 0,
    ipaddress.ip_network("2002::/16"): 80,
}
# What Python, in one version or another, takes for public although it is not.
NOT_PUBLIC = (
    ipaddress.ip_network("168.63.129.16/32"),  # Azure, to its own machines only
    ipaddress.ip_network("192.0.0.0/24"),
    ipaddress.ip_network("192.88.99.0/24"),
    ipaddress.ip_network("3fff::/20"),
    ipaddress.ip_network("fec0::/10"),
)
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
ONE_BY_ONE = Lock()
looking_up: dict[tuple[str, int], Future[list[Any]]] = {}


def plainly_private(url: str) -> bool:
    """Whether nobody need look up where it is to know that we may not go there."""
    host = urlsplit(url).hostname or ""
    try:
        return not may_visit(ipaddress.ip_address(host))
    except ValueError:
        return is_metadata(host)


def is_metadata(host: str) -> bool:
    return host.rstrip(".").lower() in METADATA_HOSTS


async def checked_addresses(host: str, port: int) -> list[Address]:
    """Every address of the host, if we may visit all of them."""
    if is_metadata(host):
        raise UrlNotAllowed(f"{host} is not a public host")
    addresses = await resolve(host, port)
    for address in addresses:
        if not may_visit(address):
            raise UrlNotAllowed(f"{host} is not at a public address")
    return addresses


async def resolve(host: str, port: int) -> list[Address]:
    with suppress(ValueError):
        return [ipaddress.ip_address(host)]
    try:
        # Others may wait for the same one: it goes on when we no longer do.
        found = await asyncio.shield(asyncio.wrap_future(look_up(host, port)))
    except (socket.gaierror, UnicodeError) as error:
        raise NoAddress(f"{host} has no address") from error
    texts = dict.fromkeys(str(sockaddr[0]).split("%")[0] for *_, sockaddr in found)
    return [ipaddress.ip_address(text) for text in texts]


def look_up(host: str, port: int) -> Future[list[Any]]:
    """One at a time for each name, however many ask."""
    key = (host, port)
    with ONE_BY_ONE:
        if (begun := looking_up.get(key)) is not None:
            return begun
        looking_up[key] = begun = Future()
    begun.add_done_callback(lambda _: looking_up.pop(key, None))
    # Of nobody's pool: neither a loop nor a process that ends waits for slow DNS.
    Thread(target=settle, args=(begun, host, port), daemon=True).start()
    return begun


def settle(begun: Future[list[Any]], host: str, port: int) -> None:
    """Look the name up, and tell those who wait for it."""
    try:
        found = socket.getaddrinfo(host, port, socket.AF_UNSPEC, socket.SOCK_STREAM)
    except Exception as error:  # noqa: BLE001 - for those who wait to judge
        begun.set_exception(error)
    else:
        begun.set_result(found)


def may_visit(address: Address) -> bool:
    """A public address, or one in a network the operator allows."""
    address = innermost(address)
    if any(address in network for network in conf.ALLOWED_NETWORKS):
        return True
    if any(address in network for network in NOT_PUBLIC):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def innermost(address: Address) -> Address:
    """The IPv4 address inside an IPv6 one that only wraps it."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped:
        return address.ipv4_mapped
    for network, shift in EMBEDDED_IPV4.items():
        if address in network:
            return ipaddress.IPv4Address((int(address) >> shift) & 0xFFFFFFFF)
    return address

"""The address guard: allows public addresses, and networks from the settings."""

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from threading import Lock, Thread
from typing import Any
from urllib.parse import urlsplit

from ..conf import conf
from .errors import HostNotFound, UrlNotAllowed

# Hosts from which cloud providers serve credentials to their virtual machines.
METADATA_HOSTS = {
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
}
# IPv6 networks that embed an IPv4 address, and its offset in bits from the right.
EMBEDDED_IPV4 = {
    ipaddress.ip_network("64:ff9b::/96"): 0,
    ipaddress.ip_network("2002::/16"): 80,
}
# Networks that some Python versions treat as global although they are not.
NOT_PUBLIC = (
    ipaddress.ip_network("168.63.129.16/32"),  # Azure's host, for its own VMs only
    ipaddress.ip_network("192.0.0.0/24"),
    ipaddress.ip_network("192.88.99.0/24"),
    ipaddress.ip_network("3fff::/20"),
    ipaddress.ip_network("fec0::/10"),
)
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# What `socket.getaddrinfo` returns.
AddressInfo = Sequence[tuple[Any, ...]]
lookup_lock = Lock()
pending_lookups: dict[tuple[str, int], Future[AddressInfo]] = {}


def has_disallowed_host(url: str) -> bool:
    """Return whether the URL's host is a disallowed address or a metadata host.

    Other names are not looked up, so their addresses may be disallowed as well.
    """
    host = urlsplit(url).hostname or ""
    try:
        return not is_allowed_address(ipaddress.ip_address(host))
    except ValueError:
        return is_metadata_host(host)


def is_metadata_host(host: str) -> bool:
    return host.rstrip(".").lower() in METADATA_HOSTS


async def resolve_allowed(host: str, port: int) -> list[Address]:
    """Return the host's addresses; raise UrlNotAllowed if any is not allowed."""
    if is_metadata_host(host):
        raise UrlNotAllowed(f"{host} is not a public host")
    addresses = await resolve(host, port)
    for address in addresses:
        if not is_allowed_address(address):
            raise UrlNotAllowed(
                f"{host} is not a public host; an administrator can allow its"
                " network in AGENTLENS_ALLOWED_NETWORKS"
            )
    return addresses


async def resolve(host: str, port: int) -> list[Address]:
    """Return the host's addresses; raise HostNotFound if it has none."""
    with suppress(ValueError):
        return [ipaddress.ip_address(host)]
    try:
        # Shielded, because other tasks may wait for the same lookup.
        lookup = asyncio.wrap_future(start_lookup(host, port))
        # Otherwise asyncio logs the error of a lookup for which no task waits any more.
        lookup.add_done_callback(lambda done: done.cancelled() or done.exception())
        infos = await asyncio.shield(lookup)
    except (socket.gaierror, UnicodeError) as error:
        raise HostNotFound("DNS lookup failed") from error
    texts = dict.fromkeys(str(sockaddr[0]).split("%")[0] for *_, sockaddr in infos)
    return [ipaddress.ip_address(text) for text in texts]


def start_lookup(host: str, port: int) -> Future[AddressInfo]:
    """Start a DNS lookup, or return the one that is running for the same name."""
    key = (host, port)
    with lookup_lock:
        if (pending := pending_lookups.get(key)) is not None:
            return pending
        future: Future[AddressInfo] = Future()
        pending_lookups[key] = future
    future.add_done_callback(lambda _: pending_lookups.pop(key, None))
    # A daemon thread outside any pool, so that no shutdown waits for slow DNS.
    Thread(target=run_lookup, args=(future, host, port), daemon=True).start()
    return future


def run_lookup(future: Future[AddressInfo], host: str, port: int) -> None:
    """Look the name up and set the future's result or exception."""
    try:
        infos = socket.getaddrinfo(host, port, socket.AF_UNSPEC, socket.SOCK_STREAM)
    except Exception as error:  # noqa: BLE001 - raised again where it is awaited
        future.set_exception(error)
    else:
        future.set_result(infos)


def is_allowed_address(address: Address) -> bool:
    """Return whether the address is public or in one of the allowed networks."""
    address = unwrap_ipv4(address)
    if any(address in network for network in conf.ALLOWED_NETWORKS):
        return True
    if any(address in network for network in NOT_PUBLIC):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def unwrap_ipv4(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address embeds, else the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped:
        return address.ipv4_mapped
    for network, shift in EMBEDDED_IPV4.items():
        if address in network:
            return ipaddress.IPv4Address((int(address) >> shift) & 0xFFFFFFFF)
    return address

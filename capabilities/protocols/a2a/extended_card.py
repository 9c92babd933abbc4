"""Requests for the extended card, which agents give to authorized callers only."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, urljoin

from ...problems import Document, Problems, find_url_error
from .addresses import append_path
from .parser import is_v1, read_interfaces, read_spec_version
from .records import A2AInterface

JSON_RPC = "JSONRPC"
REST = "HTTP+JSON"
V03_METHOD = "agent/getAuthenticatedExtendedCard"


@dataclass(frozen=True, slots=True)
class ExtendedCardRequest:
    """The HTTP request for an extended card."""

    url: str
    method: str = "GET"
    # Sent as JSON.
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


def build_extended_card_request(card: Document) -> ExtendedCardRequest | None:
    """Return the request for the extended card that a card declares.

    Return None if it declares none, or no interface over HTTP.
    """
    if not declares_extended_card(card):
        return None
    requests = (build_request(interface) for interface in iter_web_interfaces(card))
    return next((request for request in requests if request), None)


def declares_extended_card(card: Document) -> bool:
    flags = card.get("capabilities")
    is_declared = isinstance(flags, dict) and flags.get("extendedAgentCard") is True
    return is_declared or card.get("supportsAuthenticatedExtendedCard") is True


def iter_web_interfaces(card: Document) -> Iterator[A2AInterface]:
    """Yield the interfaces with a web URL and their revision, the preferred first."""
    problems = Problems()
    version = "" if is_v1(card) else read_spec_version(card, problems)
    for interface in read_interfaces(card, problems):
        if not find_url_error(interface.url):
            interface_version = version or interface.protocol_version or "1.0"
            yield replace(interface, protocol_version=interface_version)


def build_request(interface: A2AInterface) -> ExtendedCardRequest | None:
    """Return the request over an interface, None if it is not one over HTTP."""
    if interface.protocol_version.startswith("0.2"):
        url = append_path(interface.url, "")
        return ExtendedCardRequest(urljoin(url, "agent/authenticatedExtendedCard"))
    is_v03 = interface.protocol_version.startswith("0.")
    headers = {} if is_v03 else {"A2A-Version": "1.0"}
    if interface.binding == REST:
        tenant = f"/{quote(interface.tenant, safe='')}" if interface.tenant else ""
        path = "/v1/card" if is_v03 else f"{tenant}/extendedAgentCard"
        url = append_path(interface.url, path)
        return ExtendedCardRequest(url, headers=headers)
    if interface.binding != JSON_RPC:
        return None
    method = "GetExtendedAgentCard"
    params = {"tenant": interface.tenant} if interface.tenant else {}
    body: Document = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    if is_v03:
        body = {"jsonrpc": "2.0", "id": 1, "method": V03_METHOD}
    return ExtendedCardRequest(interface.url, "POST", body, headers)

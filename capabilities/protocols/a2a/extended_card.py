"""Requests for the extended card, which agents give to authorized callers only."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urljoin

from ...problems import Document, Problems, find_url_error
from .addresses import append_path
from .parser import is_v1, read_spec_version

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


@dataclass(frozen=True, slots=True)
class CardInterface:
    """An interface of a card of any revision."""

    url: str
    binding: str
    version: str
    tenant: str = ""


def build_extended_card_request(card: Document) -> ExtendedCardRequest | None:
    """Return the request for the extended card that a card declares.

    Return None if it declares none, or no interface over HTTP.
    """
    if not declares_extended_card(card):
        return None
    requests = (build_request(interface) for interface in iter_interfaces(card))
    return next((request for request in requests if request), None)


def declares_extended_card(card: Document) -> bool:
    flags = card.get("capabilities")
    is_declared = isinstance(flags, dict) and flags.get("extendedAgentCard") is True
    return is_declared or card.get("supportsAuthenticatedExtendedCard") is True


def iter_interfaces(card: Document) -> Iterator[CardInterface]:
    """Yield the interfaces with a web URL, the preferred one first."""
    items, binding_key, version = card.get("supportedInterfaces"), "protocolBinding", ""
    if not is_v1(card):
        items, binding_key = card.get("additionalInterfaces"), "transport"
        version = read_spec_version(card, Problems())
        preferred = get_text(card, "preferredTransport") or JSON_RPC
        yield from build_interface(
            {**card, binding_key: preferred}, binding_key, version
        )
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict):
            yield from build_interface(item, binding_key, version)


def build_interface(
    item: Document, binding_key: str, version: str
) -> Iterator[CardInterface]:
    url = get_text(item, "url")
    if url and not find_url_error(url):
        version = version or get_text(item, "protocolVersion") or "1.0"
        tenant = get_text(item, "tenant")
        yield CardInterface(url, get_text(item, binding_key), version, tenant)


def get_text(document: Document, key: str) -> str:
    value = document.get(key)
    return value if isinstance(value, str) else ""


def build_request(interface: CardInterface) -> ExtendedCardRequest | None:
    """Return the request over an interface, None if it is not one over HTTP."""
    if interface.version.startswith("0.2"):
        url = append_path(interface.url, "")
        return ExtendedCardRequest(urljoin(url, "agent/authenticatedExtendedCard"))
    is_v03 = interface.version.startswith("0.")
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

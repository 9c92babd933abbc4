"""The endpoint of a card: which interface it is, and which tenant of it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from ...interfaces import EndpointPolicy
from ...placeholders import find_url_template_error
from ...problems import (
    RELATIVE_URL_ERROR,
    Document,
    Problems,
    find_url_error,
    is_relative_url,
    member_path,
)
from ...records import is_web_url
from .records import A2AInterface

TENANT_FRAGMENT = "#tenant="
# The bindings over HTTP; the default is JSONRPC.
HTTP_BINDINGS = ("", "HTTP+JSON", "JSONRPC")
GRPC_SCHEMES = ("grpc", "grpcs")
# Addresses of other bindings, such as gRPC: a URL, or a host with a port.
OTHER_ADDRESS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{0,30}://\S+"
    r"|(?:[\w.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}(?:/\S*)?"
)


@dataclass(frozen=True, slots=True)
class CardEndpointPolicy(EndpointPolicy):
    """Adds a supplied URL to cards without any."""

    is_required: bool = False

    def with_endpoint(
        self, document: Document, endpoint: str, base_url: str = ""
    ) -> Document:
        has_own_url = any(
            not is_relative_url(url) or base_url for url in iter_urls(document)
        )
        if has_own_url or not is_web_url(endpoint):
            return document
        url = endpoint.partition(TENANT_FRAGMENT)[0]
        interfaces = document.get("supportedInterfaces")
        if not isinstance(interfaces, list) or not interfaces:
            return {**document, "url": url}
        first, *others = interfaces
        completed = {**first, "url": url} if isinstance(first, dict) else first
        return {**document, "supportedInterfaces": [completed, *others]}


def iter_urls(document: Document) -> Iterator[str]:
    """Yield the URLs of the agent in a card of any revision."""
    objects: list[Any] = [document]
    for key in ("supportedInterfaces", "additionalInterfaces"):
        interfaces = document.get(key)
        objects += interfaces if isinstance(interfaces, list) else []
    for members in objects:
        url = members.get("url") if isinstance(members, dict) else None
        if isinstance(url, str) and url.strip():
            yield url


def append_path(url: str, path: str) -> str:
    """Return the URL with the path after its own, and its query after both.

    The fragment, which is not sent, is removed.
    """
    parts = urlsplit(url)
    path = parts.path.rstrip("/") + path
    return urlunsplit(parts._replace(path=path, fragment=""))


def build_identity(interface: A2AInterface) -> str:
    """Return the URL with the tenant in its fragment, which is never sent."""
    if not interface.tenant:
        return interface.url
    tenant = quote(interface.tenant, safe="/:@?!$'()*+,;")
    return f"{interface.url}{TENANT_FRAGMENT}{tenant}"


def select_interface(
    interfaces: list[A2AInterface], document: Document, problems: Problems
) -> A2AInterface | None:
    """Return the first interface with an http or https URL, else the first one.

    The others are only listed. If no interface has an address, add errors.
    """
    errors = {
        interface: find_url_error(interface.url)
        for interface in interfaces
        if interface.url
    }
    web_interfaces = [interface for interface in errors if not errors[interface]]
    usable = web_interfaces or [
        interface for interface in errors if has_other_address(interface)
    ]
    for interface, error in errors.items():
        if interface not in usable:
            report_url_error(interface, error, problems, is_listed=bool(usable))
    for interface in errors:
        if message := find_url_template_error(interface.url):
            problems.error(get_url_path(interface), message)
    if not interfaces:
        report_missing_url(document, problems)
    return usable[0] if usable else None


def has_other_address(interface: A2AInterface) -> bool:
    """Return whether the interface is not one over HTTP and has an address."""
    url = interface.url
    if is_web_url(url) or not url.isprintable() or not OTHER_ADDRESS.fullmatch(url):
        return False
    is_grpc = url.partition("://")[0].lower() in GRPC_SCHEMES
    return is_grpc or interface.binding.upper() not in HTTP_BINDINGS


def report_url_error(
    interface: A2AInterface, error: str, problems: Problems, *, is_listed: bool
) -> None:
    """Add a warning if the card has another endpoint, otherwise an error."""
    if is_relative_url(interface.url):
        error = RELATIVE_URL_ERROR
    message = error if interface.path.endswith(".url") else f"url {error}"
    if is_listed:
        problems.warning(interface.path, f"{message}; listed, but not used")
    else:
        problems.error(interface.path, message)


def get_url_path(interface: A2AInterface) -> str:
    path = interface.path
    return path if path.endswith(".url") else member_path(path, "url")


def report_missing_url(document: Document, problems: Problems) -> None:
    if "url" in document:
        message = "must be an http or https URL, because the card has no other endpoint"
        problems.error("$.url", message)
    else:
        message = (
            "must contain an interface with an http or https URL; cards of revisions"
            " before 1.0 must have `url` instead. If the card has no URL, supply it as"
            " the endpoint"
        )
        problems.error("$.supportedInterfaces", message)

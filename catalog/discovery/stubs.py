"""Stubs: entries for servers that give their definition to authorized callers only."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from capabilities.interfaces import GuardedAgent
from capabilities.parsers import Parser, parsers

from ..outbound import (
    AuthorizationRequired,
    FetchResult,
    RequestRefused,
    get_host,
)
from .attempts import Candidate
from .failures import STUB_REASON
from .resolved import ResolvedDefinition, build_resolved
from .resource_metadata import ResourceMetadata, fetch_resource_metadata


@dataclass(frozen=True, slots=True)
class GuardedServer:
    """A server that refused a request for the definition of an agent."""

    url: str
    parser: Parser
    refusal: RequestRefused
    # Whether the running agent refused, not the URL of a document.
    is_agent: bool

    @property
    def challenge(self) -> str:
        if isinstance(self.refusal, AuthorizationRequired):
            return self.refusal.challenge
        return ""

    @property
    def rank(self) -> tuple[bool, bool]:
        """The sort key: the most certain server comes first."""
        return ("resource_metadata" not in self.challenge, not self.is_agent)


def find_guarded_servers(
    tried: Iterable[Candidate], protocol: str = ""
) -> list[GuardedServer]:
    """Return the servers that could be cataloged as stubs, the most certain first."""
    servers = []
    for candidate in tried:
        refusal = candidate.failure
        if isinstance(refusal, RequestRefused):
            url, parser = find_agent(candidate, protocol)
            if parser is not None and parser.stub_builder is not None:
                is_agent = bool(candidate.protocol)
                servers.append(GuardedServer(url, parser, refusal, is_agent))
    return sorted(servers, key=lambda server: server.rank)


def find_agent(candidate: Candidate, protocol: str) -> tuple[str, Parser | None]:
    """Return the URL and the protocol of the agent that a candidate belongs to."""
    if candidate.protocol:
        return candidate.url, parsers.get(candidate.protocol)
    parts = urlsplit(candidate.url)
    for parser in parsers:
        if protocol in ("", parser.slug):
            for path in parser.well_known_paths:
                if parts.path.endswith(path):
                    base = parts._replace(path=parts.path.removesuffix(path))
                    return urlunsplit(base), parser
    return candidate.url, None


async def resolve_stub(
    servers: list[GuardedServer], deadline: float
) -> ResolvedDefinition:
    """Return a stub for the server that its metadata describes, else for the first."""
    server, metadata = servers[0], None
    with suppress(TimeoutError):
        async with asyncio.timeout_at(deadline):
            metadata = await fetch_resource_metadata(server.url, server.challenge)
    if metadata is not None:
        resource = metadata.resource
        exact = (other for other in servers if is_same_url(other.url, resource))
        server = next(exact, server)
        if not metadata.describes(server.url):
            metadata = None
    return build_stub(server, metadata)


def is_same_url(url: str, other: str) -> bool:
    return url.rstrip("/") == other.rstrip("/")


def build_stub(
    server: GuardedServer, metadata: ResourceMetadata | None
) -> ResolvedDefinition:
    if server.parser.stub_builder is None:
        raise ValueError(f"{server.parser.label} has no stubs")
    known = metadata or ResourceMetadata("")
    document = server.parser.stub_builder.build_stub(
        GuardedAgent(
            server.url,
            known.name or get_host(server.url),
            known.authorization_servers,
            known.scopes,
        )
    )
    reason = STUB_REASON
    if not isinstance(server.refusal, AuthorizationRequired):
        status = server.refusal.status
        reason = (
            f"Its server refused to give its definition (HTTP {status}): only its"
            " address is known"
        )
    return build_resolved(document, FetchResult(server.url, b""), server.parser, reason)

"""Fetch and parse an agent's definition without storing anything."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from urllib.parse import urldefrag

from capabilities.documents import describe_other_content
from capabilities.interfaces import Introspector
from capabilities.parsers import (
    ParseError,
    Parser,
    is_definition,
    is_stub,
    parse,
    parsers,
    requires_endpoint,
)

from ..conf import conf
from ..models import CatalogEntry, Source
from ..outbound import (
    AuthorizationRequired,
    FetchError,
    FetchFailed,
    FetchResult,
    NoDefinitionAtUrl,
    check_url,
    fetch,
    get_host,
)
from .attempts import Candidate, find_first, set_attempts
from .completion import DefinitionCompleter
from .credentials import OriginCredentials
from .failures import STUB_REASON, add_hint, add_timeouts, choose_failure
from .locations import Locations
from .resolved import ResolvedDefinition, build_resolved, parse_json_or_empty
from .stubs import find_guarded_servers, resolve_stub

# With these statuses, a server at this URL may only answer requests of its protocol.
NOT_FOR_GET_STATUSES = (400, 405, 406)


def build_resolver_for_url(
    url: str,
    protocol: str = "",
    authorization: str = "",
    capabilities_url: str = "",
    allow_stub: bool = False,
) -> "DefinitionResolver":
    """Return a resolver that tries a URL and where its host publishes definitions.

    `capabilities_url` is where the agent publishes its definition, for protocols whose
    definitions do not contain the agent's endpoint. It is fetched instead of the URL.
    With `allow_stub`, a server that requires authorization is resolved to a stub.
    """
    check_url(url)
    if capabilities_url:
        check_url(capabilities_url)
        protocol = protocol or get_only_protocol_requiring_endpoint()
        locations = Locations.for_declaration(capabilities_url, protocol)
    else:
        locations = Locations.for_agent(url, protocol)
    return DefinitionResolver(
        url,
        locations,
        protocol,
        authorization,
        cached=get_cached_definitions([*locations.all_urls, url]),
        introspect_first=get_introspector(protocol) is not None,
        allow_stub=allow_stub,
    )


def get_only_protocol_requiring_endpoint() -> str:
    """Return the only protocol that requires an endpoint.

    Return "" if there is none or several.
    """
    slugs = [parser.slug for parser in parsers if parser.requires_endpoint]
    return slugs[0] if len(slugs) == 1 else ""


def build_resolver_for_entry(
    entry: CatalogEntry, authorization: str = ""
) -> "DefinitionResolver":
    """Return a resolver for an entry's source URL, or its endpoint without one.

    Raise AuthorizationRequired if the definition needs a header that is not given.
    """
    if entry.authorized and not authorization:
        raise AuthorizationRequired(
            "This definition was fetched with an Authorization header: provide it again"
        )
    agent_type, source_url = entry.agent_type, entry.source_url
    protocol, endpoint = agent_type.protocol, agent_type.endpoint
    is_stored_stub = is_stub(agent_type.definition, protocol)
    # The fragment distinguishes agents at one URL, and is never sent.
    locations = Locations.for_agent(urldefrag(endpoint).url, protocol)
    if is_stored_stub:
        source_url = ""
    elif source_url:
        locations = Locations.for_single_url(source_url, protocol)
    else:
        locations = replace(locations, endpoints=[])
    introspect_first = (
        source_url in ("", endpoint) and get_introspector(protocol) is not None
    )
    return DefinitionResolver(
        endpoint,
        locations,
        protocol,
        authorization,
        trusted_url="" if is_self_describing(protocol) else source_url,
        cached=get_cached_definitions(locations.all_urls),
        introspect_first=introspect_first,
        stored_definition=agent_type.definition if introspect_first else b"",
        replaces_stub=is_stored_stub,
        must_extend=entry.authorized and not entry.definition_problem,
        is_refresh=True,
    )


def get_introspector(protocol: str) -> Introspector | None:
    parser = parsers.get(protocol)
    return parser.introspector if parser else None


def is_self_describing(protocol: str) -> bool:
    """Return whether definitions come from the running agent itself."""
    parser = parsers.get(protocol)
    if parser is None:
        return False
    return parser.introspector is not None or parser.requires_endpoint


def get_cached_definitions(urls: list[str]) -> dict[str, FetchResult]:
    """Return the stored definition last seen at each of these URLs."""
    # The stored ETag is valid only for imported definitions.
    entries = CatalogEntry.objects.filter(source=Source.IMPORT, source_url__in=urls)
    entries = entries.select_related("agent_type").order_by("validity_last_seen")
    return {
        entry.source_url: FetchResult(
            entry.source_url, entry.agent_type.definition, entry.source_etag
        )
        for entry in entries
    }


@dataclass(frozen=True, slots=True)
class DefinitionResolver:
    """Finds the definition of the agent at a URL within the time of one fetch."""

    endpoint: str
    locations: Locations
    protocol: str = ""
    authorization: str = ""
    # The authorization is sent only to the origin of this URL, or to that of the
    # endpoint if this URL is "".
    trusted_url: str = ""
    # The stored definitions by candidate URL.
    cached: dict[str, FetchResult] = field(default_factory=dict)
    introspect_first: bool = False
    # The stored definition of an agent that can be introspected.
    stored_definition: bytes = b""
    # Whether to return a stub if the server requires authorization.
    allow_stub: bool = False
    # Whether the definition is to replace a stored stub.
    replaces_stub: bool = False
    # Whether a refresh fails without the extended form of the definition.
    must_extend: bool = False
    # Whether the endpoint is that of an entry, and not a URL to try.
    is_refresh: bool = False

    async def run(self) -> ResolvedDefinition:
        """Return the first definition found or raise the most severe failure.

        The URLs that were tried are attached to the failure.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + conf.FETCH_TIMEOUT
        tried: list[Candidate] = []
        found = None
        try:
            async with asyncio.timeout_at(deadline):
                found = await find_first(self.iter_candidates(tried), tried)
        except TimeoutError:
            add_timeouts(tried, loop.time())
        except FetchError as error:
            set_attempts(error, tried)
            raise
        if found is None:
            return await self.resolve_failure(tried, deadline)
        completer = DefinitionCompleter(
            self.credentials, self.cached, deadline, self.must_extend
        )
        completed = await completer.complete(found)
        return replace(completed, authorized=bool(self.authorization))

    @property
    def credentials(self) -> OriginCredentials:
        return OriginCredentials(self.authorization, self.trusted_url or self.endpoint)

    async def resolve_failure(
        self, tried: list[Candidate], deadline: float
    ) -> ResolvedDefinition:
        """Return a stub if one is allowed and possible; else raise the failure."""
        guarded = find_guarded_servers(tried, self.protocol)
        if guarded and self.allow_stub:
            return await resolve_stub(guarded, deadline)
        failure = choose_failure(tried, self.endpoint)
        if self.replaces_stub and isinstance(failure, AuthorizationRequired):
            failure = AuthorizationRequired(STUB_REASON, status=failure.status)
        failure = add_hint(failure, parsers.get(self.protocol))
        can_be_stub = bool(guarded) and not self.is_refresh
        set_attempts(failure, tried, can_be_stub=can_be_stub)
        raise failure

    def iter_candidates(self, tried: list[Candidate]) -> Iterator[Candidate]:
        """Yield the candidates in the order in which to try them.

        A running agent is queried before URLs below its own are guessed, if it has a
        path or answers like an agent: some servers keep a session for each request.
        """
        locations = self.locations
        pending = self.build_introspections()
        if self.introspect_first or locations.is_endpoint:
            yield from take_all(pending)
        for n, url in enumerate(locations.candidates):
            yield self.build_fetch(url, is_first=not tried)
            is_own_url = n == 0 and not locations.is_host
            if is_own_url or answers_like_agent(tried):
                yield from take_all(pending)
        yield from take_all(pending)
        for url in locations.endpoints:
            yield from self.build_introspections(url)
        for url in locations.host_root:
            yield self.build_fetch(url)

    def build_fetch(self, url: str, *, is_first: bool = False) -> Candidate:
        wait = conf.FIRST_URL_WAIT if is_first else conf.NEXT_URL_WAIT
        return Candidate(url, partial(self.fetch_from, url), wait)

    async def fetch_from(self, url: str) -> ResolvedDefinition:
        """Parse the definition at a URL; use the stored copy if it is not modified."""
        cached = self.cached.get(url)
        without_endpoint = self.locations.without_endpoint
        authorization = self.credentials.get_authorization(url)
        fetched = await fetch(url, cached.etag if cached else "", authorization)
        if cached and fetched.not_modified:
            fetched = cached
        check_content(fetched)
        protocol = self.protocol or without_endpoint.get(url, "")
        endpoint = self.get_supplied_endpoint(fetched.body, protocol)
        try:
            record, warnings = parse(fetched.body, protocol, endpoint, url)
        except ParseError as error:
            if protocol != self.protocol and not is_definition(fetched.body, protocol):
                raise build_no_definition_error(fetched) from error
            raise
        check_endpoint_requirement(
            parsers.get(record.protocol),
            is_declaration_url=url in without_endpoint,
        )
        return ResolvedDefinition(fetched, record, warnings)

    def get_supplied_endpoint(self, raw: bytes, protocol: str) -> str:
        """Return the endpoint for definitions without one.

        On import, the URL is the agent's own only for protocols that require it.
        """
        if self.is_refresh or requires_endpoint(raw, protocol):
            return self.endpoint
        return ""

    def build_introspections(self, url: str = "") -> list[Candidate]:
        """Return a candidate for each protocol whose running agents can be queried.

        While the agent at the endpoint answers slowly, no URLs below it are tried.
        """
        if self.protocol and not self.introspect_first:
            return []
        wait = conf.NEXT_URL_WAIT
        if not url:
            patience = conf.FETCH_TIMEOUT / 2
            wait = conf.FIRST_URL_WAIT if self.locations.is_host else patience
        return [
            Candidate(
                url or self.endpoint,
                partial(self.introspect, parser, introspector, url or self.endpoint),
                wait,
                parser.slug,
            )
            for parser in parsers
            if self.protocol in ("", parser.slug)
            and (introspector := parser.introspector)
        ]

    async def introspect(
        self, parser: Parser, introspector: Introspector, url: str
    ) -> ResolvedDefinition:
        """Introspect the running agent at a URL and return its definition."""
        introspection = await introspector.introspect(url, self.authorization)
        cached = self.cached.get(url)
        earlier = parse_json_or_empty(
            self.stored_definition or (cached.body if cached else b"")
        )
        document = introspection.merge_with(earlier)
        if self.stored_definition:
            document = introspector.complete(earlier, document)
        fetched = FetchResult(url, b"")
        reason = introspection.incomplete_reason
        return build_resolved(document, fetched, parser, reason)


def take_all(candidates: list[Candidate]) -> Iterator[Candidate]:
    """Yield the candidates and remove them from the list."""
    while candidates:
        yield candidates.pop(0)


def answers_like_agent(tried: list[Candidate]) -> bool:
    """Return whether a server refused a GET but may answer in its own protocol."""
    failures = [candidate.failure for candidate in tried if not candidate.protocol]
    return any(
        isinstance(failure, FetchFailed) and failure.status in NOT_FOR_GET_STATUSES
        for failure in failures
    )


def check_content(fetched: FetchResult) -> None:
    """Raise NoDefinitionAtUrl for a page or text that is not meant as a definition."""
    if content := describe_other_content(fetched.body):
        raise NoDefinitionAtUrl(
            f"{get_host(fetched.url)} returned {content} instead of a definition",
            status=200,
            summary=f"200, {content} instead of JSON",
        )


def build_no_definition_error(fetched: FetchResult) -> NoDefinitionAtUrl:
    """Return the error for JSON at a URL that was guessed for a protocol."""
    return NoDefinitionAtUrl(
        f"{get_host(fetched.url)} returned JSON that is not a definition",
        status=200,
        summary="200, JSON that is not a definition",
    )


def check_endpoint_requirement(
    parser: Parser | None, *, is_declaration_url: bool
) -> None:
    """Raise FetchFailed if the definition is of another type than its URL is for.

    Definitions without an endpoint, which are declarations, are accepted only from a
    declaration URL. All others are accepted only from other URLs.
    """
    if parser is None or parser.requires_endpoint == is_declaration_url:
        return
    if parser.requires_endpoint:
        raise FetchFailed(
            f"{parser.label} definitions lack the agent's endpoint: provide the agent's"
            " URL and its capabilities URL"
        )
    raise FetchFailed(
        f"{parser.label} definitions contain the agent's endpoint: omit the"
        " capabilities URL"
    )

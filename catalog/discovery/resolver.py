"""Fetch and parse an agent's definition without storing anything."""

import asyncio
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass, field, replace

from capabilities.documents import dump_json, read_json
from capabilities.interfaces import Introspector
from capabilities.parsers import ParseError, Parser, parse, parsers
from capabilities.problems import Document, Problem, Problems, UnreadableDocument
from capabilities.records import AgentRecord, is_web_url

from ..conf import conf
from ..ingestion import Definition, ProbeTiming
from ..models import CatalogEntry, Source
from ..outbound import (
    AuthorizationRequired,
    FetchError,
    FetchFailed,
    FetchResult,
    FetchTimeout,
    NoDefinitionAtUrl,
    SessionInterrupted,
    UrlNotAllowed,
    check_url,
    fetch,
    get_origin,
)
from .locations import Locations


@dataclass(frozen=True, slots=True)
class ResolvedDefinition:
    """A definition fetched from a URL and the record parsed from it."""

    fetched: FetchResult
    record: AgentRecord
    warnings: list[Problem] = field(default_factory=list)
    # Why it is incomplete, "" if it is complete.
    incomplete_reason: str = ""
    # Whether an `Authorization` header was sent to get it.
    authorized: bool = False

    @property
    def definition(self) -> Definition:
        """The definition as it is ingested: imported from its URL."""
        fetched = self.fetched
        return Definition(
            self.record,
            fetched.body,
            source=Source.IMPORT,
            url=fetched.url,
            etag=fetched.etag,
            incomplete_reason=self.incomplete_reason,
            authorized=self.authorized,
            probe_timing=ProbeTiming.BY_CALLER,
        )

    def with_incomplete_reason(self, reason: str) -> "ResolvedDefinition":
        """Return a copy with this reason, also as a warning, or self if it is ""."""
        if not reason:
            return self
        warnings = [Problem("$", reason), *self.warnings]
        return replace(self, incomplete_reason=reason, warnings=warnings)


def build_resolver_for_url(
    url: str, protocol: str = "", authorization: str = "", capabilities_url: str = ""
) -> "DefinitionResolver":
    """Return a resolver that tries a URL and where its host publishes definitions.

    `capabilities_url` is where the agent publishes its definition, for protocols whose
    definitions do not contain the agent's endpoint. It is fetched instead of the URL.
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
        cached=get_cached_definitions(
            [*locations.candidates, *locations.host_root, url]
        ),
        introspect_first=get_introspector(protocol) is not None,
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
    locations = Locations.for_agent(endpoint, protocol)
    if source_url:
        locations = Locations.for_single_url(source_url, protocol)
    introspect_first = (
        source_url in ("", endpoint) and get_introspector(protocol) is not None
    )
    return DefinitionResolver(
        endpoint,
        locations,
        protocol,
        authorization,
        trusted_url="" if is_self_describing(protocol) else source_url,
        cached=get_cached_definitions([*locations.candidates, *locations.host_root]),
        introspect_first=introspect_first,
        stored_definition=agent_type.definition if introspect_first else b"",
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

    async def run(self) -> ResolvedDefinition:
        """Return the first definition found or raise the most severe failure."""
        deadline = asyncio.get_running_loop().time() + conf.FETCH_TIMEOUT
        failures: list[Exception] = []
        found = None
        try:
            async with asyncio.timeout_at(deadline):
                found = await self.find_first(failures)
        except TimeoutError:
            failures.append(
                FetchTimeout(f"No definition was found within {conf.FETCH_TIMEOUT:g} s")
            )
        if found is None:
            no_url = FetchFailed("There is no URL to fetch the definition from")
            raise self.add_hint(max(failures or [no_url], key=severity))
        completed = await self.complete_card(found, deadline)
        return replace(completed, authorized=bool(self.authorization))

    def add_hint(self, failure: Exception) -> Exception:
        """Return the failure with the protocol's hint on what to do about it."""
        parser = parsers.get(self.protocol)
        policy = parser.endpoint_policy if parser else None
        hint = policy.missing_definition_hint if policy else ""
        is_generic = type(failure) in (FetchFailed, NoDefinitionAtUrl)
        return FetchFailed(f"{failure}. {hint}") if hint and is_generic else failure

    async def find_first(self, failures: list[Exception]) -> ResolvedDefinition | None:
        """Try the candidates in order; start the next when one fails or is slow."""
        running: list[asyncio.Future[ResolvedDefinition]] = []
        try:
            for attempt in self.iter_attempts():
                running.append(asyncio.ensure_future(attempt))
                is_first = len(running) == 1
                delay = conf.FIRST_URL_WAIT if is_first else conf.NEXT_URL_WAIT
                if found := await wait_for_result(running, failures, delay):
                    return found
            while running:
                if found := await wait_for_result(running, failures):
                    return found
        finally:
            for attempt in running:
                attempt.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        return None

    def iter_attempts(self) -> Iterator[Awaitable[ResolvedDefinition]]:
        """Yield attempts: the candidate URLs, introspection, the root of the host.

        With `introspect_first`, introspection comes first.
        """
        if self.introspect_first:
            yield from self.iter_introspections()
        for url in self.locations.candidates:
            yield self.fetch_from(url)
        if not self.protocol:
            yield from self.iter_introspections()
        for url in self.locations.host_root:
            yield self.fetch_from(url)

    async def fetch_from(self, url: str) -> ResolvedDefinition:
        """Parse the definition at a URL; use the stored copy if it is not modified."""
        cached = self.cached.get(url)
        without_endpoint = self.locations.without_endpoint
        authorization = self.get_authorization(url)
        fetched = await fetch(url, cached.etag if cached else "", authorization)
        if cached and fetched.not_modified:
            fetched = cached
        protocol = self.protocol or without_endpoint.get(url, "")
        record, warnings = parse(fetched.body, protocol, self.endpoint)
        check_endpoint_requirement(
            parsers.get(record.protocol),
            is_declaration_url=url in without_endpoint,
        )
        return ResolvedDefinition(fetched, record, warnings)

    def iter_introspections(self) -> Iterator[Awaitable[ResolvedDefinition]]:
        """Yield one attempt for each protocol that supports introspection."""
        for parser in parsers:
            introspector = parser.introspector
            if introspector and self.protocol in ("", parser.slug):
                yield self.introspect(parser, introspector)

    async def introspect(
        self, parser: Parser, introspector: Introspector
    ) -> ResolvedDefinition:
        """Introspect the running agent and return its definition."""
        introspection = await introspector.introspect(self.endpoint, self.authorization)
        cached = self.cached.get(self.endpoint)
        earlier = parse_json_or_empty(
            self.stored_definition or (cached.body if cached else b"")
        )
        document = introspection.merge_with(earlier)
        if self.stored_definition:
            document = introspector.complete(earlier, document)
        fetched = FetchResult(self.endpoint, b"")
        reason = introspection.incomplete_reason
        return build_resolved(document, fetched, parser, reason)

    async def complete_card(
        self, found: ResolvedDefinition, deadline: float
    ) -> ResolvedDefinition:
        """Complete a card by introspecting its running agent, if possible."""
        parser = parsers.get(found.record.protocol)
        introspector = parser.introspector if parser else None
        endpoint = found.record.endpoint
        is_introspected = found.fetched.url == endpoint
        if (
            parser is None
            or introspector is None
            or is_introspected
            or not is_web_url(endpoint)
        ):
            return found
        earlier = self.get_earlier_introspection(found, introspector)
        try:
            async with asyncio.timeout_at(deadline):
                introspection = await introspector.introspect(
                    endpoint, self.get_authorization(endpoint)
                )
        except FetchError as error:
            reason = describe_failure(error)
        except TimeoutError:
            reason = "the server did not respond in time"
        else:
            document = introspection.merge_with(earlier)
            reason = introspection.incomplete_reason
            return build_completed(found, document, parser, reason)
        if earlier:
            reason = f"{reason}: only its card was read again"
            return build_completed(found, earlier, parser, reason)
        return found.with_incomplete_reason(f"{reason}: only its card was read")

    def get_authorization(self, url: str) -> str:
        """Return the authorization if the URL has the origin it was given for."""
        trusted_origin = get_origin(self.trusted_url or self.endpoint)
        return self.authorization if get_origin(url) == trusted_origin else ""

    def get_earlier_introspection(
        self, found: ResolvedDefinition, introspector: Introspector
    ) -> Document:
        """Return the stored definition if it contains introspected members, else {}."""
        cached = self.cached.get(found.fetched.url)
        document = parse_json_or_empty(cached.body if cached else b"")
        return document if introspector.is_completed(document) else {}


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


def describe_failure(error: FetchError) -> str:
    """Return why a running agent could not be introspected."""
    if isinstance(error, AuthorizationRequired):
        return "the server requires authorization"
    return f"the server could not be introspected ({error})"


async def wait_for_result(
    running: list[asyncio.Future[ResolvedDefinition]],
    failures: list[Exception],
    delay: float | None = None,
) -> ResolvedDefinition | None:
    """Wait for an attempt to finish, at most `delay` seconds; return its result.

    Return None if no attempt finished, or if those that finished failed. Remove
    finished attempts from `running` and add their errors to `failures`. Raise an error
    at once if it is unexpected or makes other attempts pointless.
    """
    await asyncio.wait(running, timeout=delay, return_when=asyncio.FIRST_COMPLETED)
    done = [attempt for attempt in running if attempt.done()]
    running[:] = [attempt for attempt in running if not attempt.done()]
    results = await asyncio.gather(*done, return_exceptions=True)
    for result in results:
        if isinstance(result, FetchError | ParseError) and not is_final(result):
            failures.append(result)
        elif isinstance(result, BaseException):
            raise result
    resolved = (result for result in results if isinstance(result, ResolvedDefinition))
    return next(resolved, None)


def is_final(failure: Exception) -> bool:
    """Return whether trying other candidates is pointless."""
    return isinstance(failure, UrlNotAllowed)


def parse_json_or_empty(raw: bytes) -> Document:
    try:
        return read_json(raw, Problems())
    except UnreadableDocument:
        return {}


def build_completed(
    card: ResolvedDefinition,
    introspected: Document,
    parser: Parser,
    incomplete_reason: str,
) -> ResolvedDefinition:
    """Return the card, completed with what introspection returned."""
    introspector = parser.introspector
    if introspector is None:
        return card
    published = read_json(card.fetched.body, Problems())
    document = introspector.complete(published, introspected)
    return build_resolved(document, card.fetched, parser, incomplete_reason)


def build_resolved(
    document: Document, fetched: FetchResult, parser: Parser, incomplete_reason: str
) -> ResolvedDefinition:
    """Return a document combined from several responses as if it had been fetched."""
    raw = dump_json(document)
    record, warnings = parse(raw, parser.slug)
    found = ResolvedDefinition(replace(fetched, body=raw), record, warnings)
    return found.with_incomplete_reason(incomplete_reason)


def severity(error: Exception) -> int:
    """Return how informative a failure is: an invalid card ranks highest.

    A URL without a definition ranks lowest, because others are usually tried too.
    """
    if isinstance(error, ParseError):
        return 3 + bool(error.result.protocol) + bool(error.result.record)
    if isinstance(error, AuthorizationRequired | SessionInterrupted):
        return 2
    return 0 if isinstance(error, NoDefinitionAtUrl) else 1

"""Finding an agent's definition and reading it; nothing is stored."""

import asyncio
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass, field, replace

from capabilities.documents import dumped, read_json
from capabilities.interfaces import Introspector
from capabilities.parsers import ParseError, Parser, parse, parsers
from capabilities.problems import Document, Problem, Problems, Unreadable
from capabilities.records import AgentRecord, is_web

from ..conf import conf
from ..ingestion import Definition, Due
from ..models import CatalogEntry, Source
from ..outbound import (
    AuthorizationNeeded,
    ConversationInterrupted,
    Fetched,
    FetchError,
    FetchFailed,
    FetchTimeout,
    NothingThere,
    UrlNotAllowed,
    check_url,
    fetch,
    origin_of,
)
from .locations import Locations


@dataclass(frozen=True, slots=True)
class ResolvedDefinition:
    """A definition found at a URL, and what it says."""

    fetched: Fetched
    record: AgentRecord
    warnings: list[Problem] = field(default_factory=list)
    # Why it is incomplete, if it is.
    problem: str = ""
    # Whether an `Authorization` was sent to get it.
    authorized: bool = False

    @property
    def definition(self) -> Definition:
        """The definition as it is catalogued: imported from its URL."""
        fetched = self.fetched
        return Definition(
            self.record,
            fetched.body,
            Source.IMPORT,
            fetched.url,
            fetched.etag,
            problem=self.problem,
            authorized=self.authorized,
            due=Due.BY_CALLER,
        )

    def incomplete(self, problem: str) -> "ResolvedDefinition":
        """Return a copy that says why it is incomplete, if it is."""
        if not problem:
            return self
        warnings = [Problem("$", problem), *self.warnings]
        return replace(self, problem=problem, warnings=warnings)


def resolver_for_url(
    url: str, protocol: str = "", authorization: str = "", capabilities_url: str = ""
) -> "DefinitionResolver":
    """Look for what is at a URL, or where its host publishes definitions.

    `capabilities_url` is where the agent declares what it can do, for protocols whose
    declarations do not say where the agent is.
    """
    check_url(url)
    if capabilities_url:
        check_url(capabilities_url)
        protocol = protocol or only_protocol_without_endpoint()
        locations = Locations.of_declaration(capabilities_url, protocol)
    else:
        locations = Locations.around(url, protocol)
    return DefinitionResolver(
        url,
        locations,
        protocol,
        authorization,
        cached=cached_definitions([*locations.candidates, *locations.host_root, url]),
        introspect_first=introspector_of(protocol) is not None,
    )


def only_protocol_without_endpoint() -> str:
    """The one protocol that needs an endpoint, "" when several do."""
    slugs = [parser.slug for parser in parsers if parser.requires_endpoint]
    return slugs[0] if len(slugs) == 1 else ""


def resolver_for_entry(
    entry: CatalogEntry, authorization: str = ""
) -> "DefinitionResolver":
    """Look for an entry's definition where it came from, or at its own endpoint."""
    if entry.authorized and not authorization:
        raise AuthorizationNeeded("It was read with an Authorization: give one again")
    agent_type, source_url = entry.agent_type, entry.source_url
    protocol, endpoint = agent_type.protocol, agent_type.endpoint
    locations = Locations.around(endpoint, protocol)
    if source_url:
        locations = Locations.only(source_url, protocol)
    introspect_first = (
        source_url in ("", endpoint) and introspector_of(protocol) is not None
    )
    return DefinitionResolver(
        endpoint,
        locations,
        protocol,
        authorization,
        trusted="" if is_self_describing(protocol) else source_url,
        cached=cached_definitions([*locations.candidates, *locations.host_root]),
        introspect_first=introspect_first,
        card=agent_type.definition if introspect_first else b"",
    )


def introspector_of(protocol: str) -> Introspector | None:
    parser = parsers.get(protocol)
    return parser.introspector if parser else None


def is_self_describing(protocol: str) -> bool:
    """Whether the agent itself says what it is, and no file on its behalf."""
    parser = parsers.get(protocol)
    if parser is None:
        return False
    return parser.introspector is not None or parser.requires_endpoint


def cached_definitions(urls: list[str]) -> dict[str, Fetched]:
    """The stored definitions that came from these URLs, the latest seen of each."""
    # A definition pushed since did not come with the ETag that is stored.
    entries = CatalogEntry.objects.filter(source=Source.IMPORT, source_url__in=urls)
    entries = entries.select_related("agent_type").order_by("validity_last_seen")
    return {
        entry.source_url: Fetched(
            entry.source_url, entry.agent_type.definition, entry.source_etag
        )
        for entry in entries
    }


@dataclass(frozen=True, slots=True)
class DefinitionResolver:
    """Finds the definition of the agent at a URL, within the time of one fetch."""

    endpoint: str
    locations: Locations
    protocol: str = ""
    authorization: str = ""
    # Whose origin the authorization is for, if not the endpoint's.
    trusted: str = ""
    # What is stored from the candidate URLs.
    cached: dict[str, Fetched] = field(default_factory=dict)
    introspect_first: bool = False
    # The stored definition of an agent that can be introspected.
    card: bytes = b""

    async def run(self) -> ResolvedDefinition:
        """Try the URLs in order; raises the most telling failure when none works."""
        deadline = asyncio.get_running_loop().time() + conf.FETCH_TIMEOUT
        failures: list[Exception] = []
        found = None
        try:
            async with asyncio.timeout_at(deadline):
                found = await self.first(failures)
        except TimeoutError:
            failures.append(FetchTimeout("No definition was found in time"))
        if found is None:
            nowhere = FetchFailed("No URL is known where its definition could be")
            raise self.with_hint(max(failures or [nowhere], key=severity))
        whole = await self.completed(found, deadline)
        return replace(whole, authorized=bool(self.authorization))

    def with_hint(self, failure: Exception) -> Exception:
        """Add what to do about it, where the protocol knows."""
        parser = parsers.get(self.protocol)
        policy = parser.endpoint_policy if parser else None
        hint = policy.missing_definition_hint if policy else ""
        plain = type(failure) in (FetchFailed, NothingThere)
        return FetchFailed(f"{failure}. {hint}") if hint and plain else failure

    async def first(self, failures: list[Exception]) -> ResolvedDefinition | None:
        """Try the candidates in order, starting the next one when one is slow."""
        waiting: list[asyncio.Future[ResolvedDefinition]] = []
        try:
            for attempt in self.attempts():
                waiting.append(asyncio.ensure_future(attempt))
                is_first = len(waiting) == 1
                patience = (
                    conf.FIRST_URL_PATIENCE if is_first else conf.NEXT_URL_PATIENCE
                )
                if found := await settled(waiting, failures, patience):
                    return found
            while waiting:
                if found := await settled(waiting, failures):
                    return found
        finally:
            for attempt in waiting:
                attempt.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        return None

    def attempts(self) -> Iterator[Awaitable[ResolvedDefinition]]:
        """The agent itself comes before what its host publishes for others."""
        if self.introspect_first:
            yield from self.introspections()
        for url in self.locations.candidates:
            yield self.fetch_from(url)
        if not self.protocol:
            yield from self.introspections()
        for url in self.locations.host_root:
            yield self.fetch_from(url)

    async def fetch_from(self, url: str) -> ResolvedDefinition:
        """Fetch and parse what is at a URL, unless the stored copy is still current."""
        cached, without = self.cached.get(url), self.locations.without_endpoint
        authorization = self.authorization_for(url)
        fetched = await fetch(url, cached.etag if cached else "", authorization)
        if cached and fetched.not_modified:
            fetched = cached
        protocol = self.protocol or without.get(url, "")
        found = ResolvedDefinition(
            fetched, *parse(fetched.body, protocol, self.endpoint)
        )
        refuse_misplaced(parsers.get(found.record.protocol), url in without)
        return found

    def introspections(self) -> Iterator[Awaitable[ResolvedDefinition]]:
        """One attempt for each protocol whose agents can be asked."""
        for parser in parsers:
            introspector = parser.introspector
            if introspector and self.protocol in ("", parser.slug):
                yield self.introspect(parser, introspector)

    async def introspect(
        self, parser: Parser, introspector: Introspector
    ) -> ResolvedDefinition:
        """What the running agent says about itself."""
        answer = await introspector.introspect(self.endpoint, self.authorization)
        cached = self.cached.get(self.endpoint)
        earlier = parse_json_or_empty(self.card or (cached.body if cached else b""))
        document = answer.merged_with(earlier)
        if self.card:
            document = introspector.complete(earlier, document)
        return resolved(document, Fetched(self.endpoint, b""), parser, answer.problem)

    async def completed(
        self, found: ResolvedDefinition, deadline: float
    ) -> ResolvedDefinition:
        """Complete a card by what its running agent says, where it can be asked."""
        parser = parsers.get(found.record.protocol)
        introspector = parser.introspector if parser else None
        endpoint = found.record.endpoint
        is_answer = found.fetched.url == endpoint
        if parser is None or introspector is None or is_answer or not is_web(endpoint):
            return found
        earlier = self.introspected_before(found, introspector)
        try:
            async with asyncio.timeout_at(deadline):
                answer = await introspector.introspect(
                    endpoint, self.authorization_for(endpoint)
                )
        except FetchError as error:
            reason = unanswered(error)
        except TimeoutError:
            reason = "the server did not answer in time"
        else:
            document = answer.merged_with(earlier)
            return joined(found, document, parser, answer.problem)
        if earlier:
            problem = f"{reason}: only its card was read again"
            return joined(found, earlier, parser, problem)
        return found.incomplete(f"{reason}: only its card was read")

    def authorization_for(self, url: str) -> str:
        """The authorization, for the origin it was given for and no other."""
        same = origin_of(url) == origin_of(self.trusted or self.endpoint)
        return self.authorization if same else ""

    def introspected_before(
        self, found: ResolvedDefinition, introspector: Introspector
    ) -> Document:
        """The stored definition, if it holds what the agent answered earlier."""
        cached = self.cached.get(found.fetched.url)
        document = parse_json_or_empty(cached.body if cached else b"")
        return document if introspector.is_completed(document) else {}


def refuse_misplaced(parser: Parser | None, without_endpoint: bool) -> None:
    """Refuse a declaration without its endpoint, and a card in the place of one."""
    if parser is None or parser.requires_endpoint == without_endpoint:
        return
    if parser.requires_endpoint:
        message = f"{parser.label} does not say where the agent is: give its URL"
        raise FetchFailed(f"{message}, and where it declares what it supports")
    message = f"{parser.label} says where the agent is itself"
    raise FetchFailed(f"{message}: leave the capabilities URL out")


def unanswered(error: FetchError) -> str:
    """Why a running agent did not complete its card."""
    if isinstance(error, AuthorizationNeeded):
        return "the server asks for authorisation"
    return f"the server could not be asked ({error})"


async def settled(
    waiting: list[asyncio.Future[ResolvedDefinition]],
    failures: list[Exception],
    patience: float | None = None,
) -> ResolvedDefinition | None:
    """Wait for the first result; attempts that failed are taken out of `waiting`."""
    first = asyncio.FIRST_COMPLETED
    await asyncio.wait(waiting, timeout=patience, return_when=first)
    done = [attempt for attempt in waiting if attempt.done()]
    waiting[:] = [attempt for attempt in waiting if not attempt.done()]
    results = await asyncio.gather(*done, return_exceptions=True)
    for failure in results:
        if isinstance(failure, FetchError | ParseError) and not is_final(failure):
            failures.append(failure)
        elif isinstance(failure, BaseException):
            raise failure
    return next((one for one in results if isinstance(one, ResolvedDefinition)), None)


def is_final(failure: Exception) -> bool:
    """Whether no other candidate needs to be tried: the address is not allowed."""
    return isinstance(failure, UrlNotAllowed)


def parse_json_or_empty(raw: bytes) -> Document:
    try:
        return read_json(raw, Problems())
    except Unreadable:
        return {}


def joined(
    card: ResolvedDefinition, answer: Document, parser: Parser, problem: str
) -> ResolvedDefinition:
    """Return the card, completed with what its agent answered."""
    introspector = parser.introspector
    if introspector is None:
        return card
    published = read_json(card.fetched.body, Problems())
    document = introspector.complete(published, answer)
    return resolved(document, card.fetched, parser, problem)


def resolved(
    document: Document, fetched: Fetched, parser: Parser, problem: str
) -> ResolvedDefinition:
    """A document put together from several answers, as if it had been fetched."""
    raw = dumped(document)
    found = ResolvedDefinition(replace(fetched, body=raw), *parse(raw, parser.slug))
    return found.incomplete(problem)


def severity(error: Exception) -> int:
    """How much a failure says: a faulty card more than no card, that than silence.

    That there is nothing at one URL of several says least.
    """
    if isinstance(error, ParseError):
        return 3 + bool(error.reading.protocol) + bool(error.reading.record)
    if isinstance(error, AuthorizationNeeded | ConversationInterrupted):
        return 2
    return 0 if isinstance(error, NothingThere) else 1

"""Where an agent's definition is, and what it says; nothing is stored."""

import asyncio
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass, field, replace

from django.conf import settings

from capabilities.documents import dumped, read_json
from capabilities.parsers import ParseError, Parser, parse, parsers
from capabilities.problems import Document, Problem, Problems, Unreadable
from capabilities.records import AgentRecord, is_web

from ..ingestion import Definition, Due
from ..introspect import Faltered, introspect
from ..models import CatalogEntry, Source
from ..outbound import (
    AuthorizationNeeded,
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
from .locations import Places

# So long the first one asked is waited for alone, and any other while one keeps us
# waiting: all of them come to be asked within the time of one fetch.
PATIENCE, HURRY = 2.0, 0.4


@dataclass(frozen=True, slots=True)
class Found:
    """A definition found at a URL, and what it says."""

    fetched: Fetched
    record: AgentRecord
    warnings: list[Problem] = field(default_factory=list)
    # Why it does not say all, if it does not.
    problem: str = ""
    # Whether an `Authorization` was shown to whoever told it.
    authorized: bool = False

    @property
    def definition(self) -> Definition:
        """As it is catalogued: imported from there."""
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

    def lacking(self, problem: str) -> "Found":
        """The same, with a word on why it does not say all, if it does not."""
        if not problem:
            return self
        warnings = [Problem("$", problem), *self.warnings]
        return replace(self, problem=problem, warnings=warnings)


def search_for(
    url: str, protocol: str = "", authorization: str = "", capabilities_url: str = ""
) -> "Search":
    """For what is at a URL, or at the places where its host keeps definitions."""
    check_url(url)
    if capabilities_url:
        check_url(capabilities_url)
        # Only they have such a place apart from where the agent is.
        protocol = protocol or next(p.slug for p in parsers if p.endpoint_apart)
        places = Places.only(capabilities_url, protocol)
    else:
        places = Places.around(url, protocol)
    return Search(
        url,
        places,
        protocol,
        authorization,
        known=held([*places.near, *places.far, url]),
        itself_first=introspects(protocol),
    )


def search_again(entry: CatalogEntry, authorization: str = "") -> "Search":
    """For an entry's definition where it came from, or at its own address."""
    if entry.authorized and not authorization:
        raise AuthorizationNeeded("It was read with an Authorization: give one again")
    agent_type, came_from = entry.agent_type, entry.source_url
    protocol, endpoint = agent_type.protocol, agent_type.endpoint
    places = Places.around(endpoint, protocol)
    if came_from:
        places = Places.only(came_from, protocol)
    asks_itself = came_from in ("", endpoint) and introspects(protocol)
    return Search(
        endpoint,
        places,
        protocol,
        authorization,
        trusted="" if has_say(protocol) else came_from,
        known=held([*places.near, *places.far]),
        itself_first=asks_itself,
        card=agent_type.definition if asks_itself else b"",
    )


def introspects(protocol: str) -> bool:
    parser = parsers.get(protocol)
    return parser is not None and parser.introspects


def has_say(protocol: str) -> bool:
    """Whether an agent itself tells what it is, and no file for it."""
    parser = parsers.get(protocol)
    return parser is not None and (parser.introspects or parser.endpoint_apart)


def held(places: list[str]) -> dict[str, Fetched]:
    """What we hold from these places already, the latest seen of each."""
    # A definition pushed since did not come with the ETag we remember.
    entries = CatalogEntry.objects.filter(source=Source.IMPORT, source_url__in=places)
    entries = entries.select_related("agent_type").order_by("validity_last_seen")
    return {
        entry.source_url: Fetched(
            entry.source_url, entry.agent_type.definition, entry.source_etag
        )
        for entry in entries
    }


@dataclass(frozen=True, slots=True)
class Search:
    """For the definition of the agent at a URL, all within the time of one fetch."""

    endpoint: str
    places: Places
    protocol: str = ""
    authorization: str = ""
    # For whom that is, if not for the agent itself.
    trusted: str = ""
    # What we hold from these places already.
    known: dict[str, Fetched] = field(default_factory=dict)
    itself_first: bool = False
    # What was handed to us of a server that can be asked.
    card: bytes = b""

    async def run(self) -> Found:
        """Ask each in turn; when none has one, tell the most telling reason."""
        deadline = asyncio.get_running_loop().time() + settings.AGENTLENS_FETCH_TIMEOUT
        failures: list[Exception] = []
        found = None
        try:
            async with asyncio.timeout_at(deadline):
                found = await self.first(failures)
        except TimeoutError:
            failures.append(FetchTimeout("No definition was found in time"))
        if found is None:
            raise self.explained(max(failures, key=telling))
        whole = await self.completed(found, deadline)
        return replace(whole, authorized=bool(self.authorization))

    def explained(self, failure: Exception) -> Exception:
        """With what to do about it, where its protocol knows."""
        parser = parsers.get(self.protocol)
        plain = type(failure) in (FetchFailed, NothingThere)
        if parser is None or not parser.unpublished or not plain:
            return failure
        return FetchFailed(f"{failure}. {parser.unpublished}")

    async def first(self, failures: list[Exception]) -> Found | None:
        """Whoever keeps us waiting is waited for beside the next."""
        waiting: list[asyncio.Future[Found]] = []
        try:
            for attempt in self.attempts():
                waiting.append(asyncio.ensure_future(attempt))
                patience = PATIENCE if len(waiting) == 1 else HURRY
                if found := await settled(waiting, failures, patience):
                    return found
            while waiting:
                if found := await settled(waiting, failures):
                    return found
        finally:
            for one in waiting:
                one.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        return None

    def attempts(self) -> Iterator[Awaitable[Found]]:
        """The agent itself comes before what its host keeps for others, too."""
        if self.itself_first:
            yield self.itself()
        for place in self.places.near:
            yield self.at(place)
        if not self.protocol:
            yield self.itself()
        for place in self.places.far:
            yield self.at(place)

    async def at(self, place: str) -> Found:
        known, slug = self.known.get(place), self.places.apart.get(place, "")
        word = self.authorization_for(place)
        fetched = await fetch(place, known.etag if known else "", word)
        if known and fetched.not_modified:
            fetched = known
        found = Found(
            fetched, *parse(fetched.body, self.protocol or slug, self.endpoint)
        )
        parser = parsers.get(found.record.protocol)
        if parser and parser.endpoint_apart and not slug:
            message = f"{parser.label} does not say where the agent is: give its URL"
            raise FetchFailed(f"{message}, and where it declares what it supports")
        return found

    async def itself(self) -> Found:
        """What a running server says of itself, and nobody else for it."""
        parser = next((one for one in parsers if self.may_ask(one)), None)
        if parser is None:
            raise FetchError("There is nobody to ask")
        told = await introspect(self.endpoint, self.authorization)
        held = self.known.get(self.endpoint)
        before = said(self.card or (held.body if held else b""))
        document = told.beside(before)
        if self.card:
            document = parser.complete(before, document)
        return found_in(document, Fetched(self.endpoint, b""), parser, told.problem)

    def may_ask(self, parser: Parser) -> bool:
        return parser.introspects and self.protocol in ("", parser.slug)

    async def completed(self, found: Found, deadline: float) -> Found:
        """A card says little of a running server: ask the server as well."""
        parser = parsers.get(found.record.protocol)
        endpoint = found.record.endpoint
        itself = found.fetched.url == endpoint
        if not parser or not parser.introspects or itself or not is_web(endpoint):
            return found
        try:
            async with asyncio.timeout_at(deadline):
                told = await introspect(endpoint, self.authorization_for(endpoint))
        except TimeoutError:
            return self.card_only(found, parser, "the server did not answer in time")
        except AuthorizationNeeded:
            return self.card_only(found, parser, "the server asks for authorisation")
        except FetchError as reason:
            words = f"the server could not be asked ({reason})"
            return self.card_only(found, parser, words)
        document = told.beside(self.told_before(found, parser))
        return joined(found, document, parser, told.problem)

    def authorization_for(self, url: str) -> str:
        """It was given for whoever was asked, not for whom a card may name."""
        same = origin_of(url) == origin_of(self.trusted or self.endpoint)
        return self.authorization if same else ""

    def told_before(self, found: Found, parser: Parser) -> Document:
        """What the server of this card told when it was asked last, if it was."""
        known = self.known.get(found.fetched.url)
        document = said(known.body if known else b"")
        return document if parser.is_completed(document) else {}

    def card_only(self, found: Found, parser: Parser, reason: str) -> Found:
        """The card, with what the server once told if it did, and what is missing."""
        before = self.told_before(found, parser)
        if before:
            return joined(
                found, before, parser, f"{reason}: only its card was read again"
            )
        return found.lacking(f"{reason}: only its card was read")


async def settled(
    waiting: list[asyncio.Future[Found]],
    failures: list[Exception],
    patience: float | None = None,
) -> Found | None:
    """The first that is found in this time; those that failed wait no longer."""
    first = asyncio.FIRST_COMPLETED
    await asyncio.wait(waiting, timeout=patience, return_when=first)
    done = [one for one in waiting if one.done()]
    waiting[:] = [one for one in waiting if not one.done()]
    found = await asyncio.gather(*done, return_exceptions=True)
    for failure in found:
        if isinstance(failure, FetchError | ParseError) and not is_final(failure):
            failures.append(failure)
        elif isinstance(failure, BaseException):
            raise failure
    return next((one for one in found if isinstance(one, Found)), None)


def is_final(failure: Exception) -> bool:
    """Whether nobody else need be asked: the address is one that we do not visit."""
    return isinstance(failure, UrlNotAllowed)


def said(raw: bytes) -> Document:
    """What a definition that we hold says; nothing, if it is of another kind."""
    try:
        return read_json(raw, Problems())
    except Unreadable:
        return {}


def joined(card: Found, told: Document, parser: Parser, problem: str) -> Found:
    """The card with what its server told of itself."""
    document = parser.complete(read_json(card.fetched.body, Problems()), told)
    return found_in(document, card.fetched, parser, problem)


def found_in(
    document: Document, fetched: Fetched, parser: Parser, problem: str
) -> Found:
    """What was put together from several answers, as if it had been fetched."""
    raw = dumped(document)
    found = Found(replace(fetched, body=raw), *parse(raw, parser.slug))
    return found.lacking(problem)


def telling(error: Exception) -> int:
    """A card with faults says more than a page that is none, and that than silence.

    That there is nothing at one place of several says least.
    """
    if isinstance(error, ParseError):
        return 3 + bool(error.reading.protocol) + bool(error.reading.record)
    if isinstance(error, AuthorizationNeeded | Faltered):
        return 2
    return 0 if isinstance(error, NothingThere) else 1

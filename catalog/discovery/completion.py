"""Complete a published definition by querying the agent that it describes."""

import asyncio
from dataclasses import dataclass, replace

from capabilities.documents import read_json
from capabilities.interfaces import DefinitionExtender, Introspector
from capabilities.parsers import ParseError, Parser, parse, parsers
from capabilities.problems import Document, Problems

from ..outbound import FetchError, FetchFailed, FetchResult
from .credentials import OriginCredentials
from .failures import describe_failure
from .resolved import ResolvedDefinition, build_resolved, parse_json_or_empty


@dataclass(frozen=True, slots=True)
class DefinitionCompleter:
    """Completes a definition, as far as the deadline and its protocol allow.

    `cached` has the stored definitions by URL.
    """

    credentials: OriginCredentials
    cached: dict[str, FetchResult]
    deadline: float
    # Whether the stored definition is an extended one, which must not be lost.
    must_extend: bool = False

    async def complete(self, found: ResolvedDefinition) -> ResolvedDefinition:
        """Return the definition with what its running agent answers, if anything."""
        parser = parsers.get(found.record.protocol)
        if parser is None:
            return found
        if extender := parser.extender:
            found = await self.extend(found, extender)
        introspector, endpoint = parser.introspector, found.record.endpoint
        is_introspected = found.fetched.url == endpoint
        if (
            introspector is None
            or is_introspected
            or not parser.can_be_probed(endpoint)
        ):
            return found
        return await self.introspect(found, parser, introspector)

    async def introspect(
        self, found: ResolvedDefinition, parser: Parser, introspector: Introspector
    ) -> ResolvedDefinition:
        """Complete a card by introspecting its running agent, if possible."""
        endpoint = found.record.endpoint
        earlier = self.get_earlier_introspection(found, introspector)
        try:
            async with asyncio.timeout_at(self.deadline):
                introspection = await introspector.introspect(
                    endpoint, self.credentials.get_authorization(endpoint)
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

    def get_earlier_introspection(
        self, found: ResolvedDefinition, introspector: Introspector
    ) -> Document:
        """Return the stored definition if it contains introspected members, else {}."""
        cached = self.cached.get(found.fetched.url)
        document = parse_json_or_empty(cached.body if cached else b"")
        return document if introspector.is_completed(document) else {}

    async def extend(
        self, found: ResolvedDefinition, extender: DefinitionExtender
    ) -> ResolvedDefinition:
        """Replace a definition by its extended form, for which credentials are given.

        If that fails, return the public one and say why.
        """
        document = parse_json_or_empty(found.fetched.body)
        url = extender.find_url(document)
        if not url or not self.credentials:
            return found
        try:
            async with asyncio.timeout_at(self.deadline):
                return await self.fetch_extended(found, extender, document, url)
        except FetchError as error:
            reason = error.summary
        except ParseError as error:
            reason = f"{error}: {error.result.errors[0].path}"
        except TimeoutError:
            reason = "the server did not respond in time"
        if self.must_extend:
            raise FetchFailed(f"The extended card could not be read: {reason}")
        return found.with_incomplete_reason(
            f"its extended card could not be read ({reason}): only its public card is"
            " known"
        )

    async def fetch_extended(
        self,
        found: ResolvedDefinition,
        extender: DefinitionExtender,
        document: Document,
        url: str,
    ) -> ResolvedDefinition:
        authorization = self.credentials.get_authorization(url)
        if not authorization:
            raise FetchFailed("it is on another host than the given credentials")
        raw, record = await extender.fetch(document, authorization), found.record
        base_url = found.fetched.url
        extended, warnings = parse(raw, record.protocol, record.endpoint, base_url)
        if extended.endpoint != record.endpoint:
            raise FetchFailed("it names another endpoint")
        # The ETag of the URL belongs to the public definition.
        fetched = replace(found.fetched, body=raw, etag="")
        return ResolvedDefinition(fetched, extended, warnings)


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

"""Optional interfaces of a parser, for what only some protocols support.

The catalog checks whether a parser has an interface, never which protocol it is for.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from .problems import Document
from .records import CapabilityRecord
from .registry import Registry


@dataclass(frozen=True, slots=True)
class PresencePolicy:
    """For agents that announce themselves regularly instead of answering probes."""

    # Seconds without an announcement after which a probe of the agent fails.
    timeout: float


@dataclass(frozen=True, slots=True)
class EndpointPolicy:
    """For definitions without an endpoint: the caller can supply it."""

    # Shown to people when an agent publishes no definition.
    missing_definition_hint: str = ""
    # Whether definitions never contain the endpoint, so that it has to be supplied.
    is_required: bool = True

    def with_endpoint(
        self, document: Document, endpoint: str, base_url: str = ""
    ) -> Document:
        """Return the document with the URL that the caller supplied.

        `base_url` is where the document was fetched, "" if it was not.
        """
        return {**document, "url": endpoint} if endpoint else document


class CapabilityMerger(ABC):
    """For agents whose definitions contain only a part of their capabilities."""

    @abstractmethod
    def merge(
        self, stored: Iterable[CapabilityRecord], declared: Iterable[CapabilityRecord]
    ) -> Iterable[CapabilityRecord]:
        """Combine the stored capabilities with those of a new definition."""

    def is_complete(self, document: Document) -> bool:
        """Return whether a definition replaces all stored capabilities."""
        return False

    @abstractmethod
    def rebuild_capability(self, record: CapabilityRecord) -> CapabilityRecord | None:
        """Return the complete capability of a stored record, to export or to restore.

        Return None if the record has nothing that the definition does not contain.
        """


@dataclass(frozen=True, slots=True)
class Introspection:
    """The answer of a running agent, as a document that its parser can read."""

    document: Document
    # Why the answer is incomplete, or "".
    incomplete_reason: str = ""
    # Members of the document that the agent refused to list.
    refused: frozenset[str] = frozenset()

    def merge_with(self, earlier: Document) -> Document:
        """Return the document with refused members taken from `earlier`."""
        members = {name: earlier[name] for name in self.refused if name in earlier}
        return self.document | members


@dataclass(frozen=True, slots=True)
class GuardedAgent:
    """What is known of an agent that gives its definition to authorized callers only.

    The authorization servers and scopes are those of its protected resource metadata.
    """

    url: str
    name: str
    authorization_servers: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()

    def describe_authorization(self) -> str:
        """Return what a caller must present, "" if that is not known."""
        if not self.authorization_servers:
            return ""
        servers = ", ".join(self.authorization_servers)
        scopes = f", scopes {' '.join(self.scopes)}" if self.scopes else ""
        return f"authorization server {servers}{scopes}"


class StubBuilder(ABC):
    """For agents that can be cataloged before their definition is known."""

    @abstractmethod
    def build_stub(self, agent: GuardedAgent) -> Document:
        """Return a document that the protocol's parser accepts."""

    @abstractmethod
    def is_stub(self, document: Document) -> bool:
        """Return whether `build_stub` made this document."""


class Introspector(ABC):
    """Queries a running agent of one protocol for its complete definition.

    Registered in `introspectors` by the app that has the network code.
    """

    # The protocol's slug.
    slug: str
    label: str
    # Paths where a host may have such agents, in the order to try them.
    endpoint_paths: tuple[str, ...] = ()

    @abstractmethod
    async def introspect(self, url: str, authorization: str = "") -> Introspection:
        """Query the agent at a URL; raise `catalog.outbound.FetchError` on failure.

        `authorization` is sent to this agent only, and never stored.
        """

    @abstractmethod
    def complete(self, definition: Document, answer: Document) -> Document:
        """Combine a published definition with the answer of the running agent."""

    @abstractmethod
    def is_completed(self, document: Document) -> bool:
        """Return whether `complete` made this document."""

    @abstractmethod
    def preserve_introspected(self, document: Document, stored: Document) -> Document:
        """Return the document with what introspection added to the stored one."""


class DefinitionExtender(ABC):
    """Fetches the extended definition that some agents give to authorized callers.

    Registered in `extenders` by the app that has the network code.
    """

    # The protocol's slug.
    slug: str
    label: str

    @abstractmethod
    def find_url(self, definition: Document) -> str:
        """Return where the agent serves an extended definition, "" if it has none."""

    @abstractmethod
    async def fetch(self, definition: Document, authorization: str) -> bytes:
        """Return the extended definition; raise `catalog.outbound.FetchError`.

        `authorization` is sent to the URL of `find_url` only, and never stored.
        """


introspectors: Registry[Introspector] = Registry("Introspector")
extenders: Registry[DefinitionExtender] = Registry("Definition extender")

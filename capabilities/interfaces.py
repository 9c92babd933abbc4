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
    """For definitions without an endpoint: the caller has to supply it."""

    # Shown to people when an agent publishes no definition.
    missing_definition_hint: str = ""

    def with_endpoint(self, document: Document, endpoint: str) -> Document:
        """Return the document with the URL that the caller supplied."""
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


class Introspector(ABC):
    """Queries a running agent of one protocol for its complete definition.

    Registered in `introspectors` by the app that has the network code.
    """

    # The protocol's slug.
    slug: str
    label: str

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


introspectors: Registry[Introspector] = Registry("Introspector")

"""What only some protocols can do: small optional interfaces that a parser hands out.

The core asks a parser for the interface and never for a protocol by name.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from .problems import Document
from .records import CapabilityRecord
from .registry import Registry


@dataclass(frozen=True, slots=True)
class PresencePolicy:
    """For agents that announce themselves, and are not asked whether they are alive."""

    # Seconds of silence after which an agent counts as gone.
    timeout: float


@dataclass(frozen=True, slots=True)
class EndpointPolicy:
    """For definitions that do not say where the agent is: the caller has to."""

    # What to do about an agent that publishes no definition; shown to people.
    missing_definition_hint: str = ""

    def with_endpoint(self, document: Document, endpoint: str) -> Document:
        """Return the document with the URL that the caller supplied."""
        return {**document, "url": endpoint} if endpoint else document


class CapabilityMerger(ABC):
    """For agents of which more is known than their latest definition says."""

    @abstractmethod
    def merge(
        self, stored: Iterable[CapabilityRecord], stated: Iterable[CapabilityRecord]
    ) -> Iterable[CapabilityRecord]:
        """Combine the stored capabilities with those of a new definition."""

    @abstractmethod
    def restore(self, record: CapabilityRecord) -> CapabilityRecord | None:
        """Return what an export kept beside the definition, None if nothing."""


@dataclass(frozen=True, slots=True)
class Introspection:
    """What a running agent said about itself, as a document its parser reads."""

    document: Document
    # Why it does not say everything, if it does not.
    problem: str = ""
    # Members of the document that the agent refused to list.
    withheld: frozenset[str] = frozenset()

    def merged_with(self, earlier: Document) -> Document:
        """Return the document; withheld members stay as they were in `earlier`."""
        kept = {name: earlier[name] for name in self.withheld if name in earlier}
        return self.document | kept


class Introspector(ABC):
    """Asks a running agent of one protocol for its whole definition.

    Registered in `introspectors` by the app that has the network code.
    """

    # The protocol's slug.
    slug: str
    label: str

    @abstractmethod
    async def introspect(self, url: str, authorization: str = "") -> Introspection:
        """Ask the agent at a URL; raises `catalog.outbound.FetchError`.

        `authorization` is sent to this agent only, and not kept.
        """

    @abstractmethod
    def complete(self, card: Document, answer: Document) -> Document:
        """Combine a published definition with the answer of the running agent."""

    @abstractmethod
    def is_completed(self, document: Document) -> bool:
        """Whether `complete` made this document."""

    @abstractmethod
    def preserve_introspected(self, document: Document, stored: Document) -> Document:
        """Keep what introspection had added to the stored definition."""


introspectors: Registry[Introspector] = Registry("Introspector")

"""What an AGH peer can offer: capabilities, briefly told or wholly known."""

import json
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ...kinds import Kind
from ...problems import Document, Problems
from ...records import CapabilityRecord
from .documents import CapabilityDocument
from .members import serialised

LABELS = {
    "context_needed": "Context needed",
    "execution_outline": "Execution outline",
    "artifacts_expected": "Artifacts expected",
    "constraints": "Constraints",
    "examples": "Examples",
    "requirements": "Requirements",
}


@dataclass(frozen=True, slots=True)
class ToldList:
    name: str
    items: tuple[str, ...]

    @property
    def label(self) -> str:
        return LABELS[self.name]

    @property
    def is_ordered(self) -> bool:
        """Whether one comes after the other."""
        return self.name == "execution_outline"


@dataclass(frozen=True, kw_only=True)
class AGHCapability(CapabilityRecord):
    """A capability by its id; `document` is None while only its brief is known.

    `verified` says that the document came with the digest that is its own.
    """

    kind: ClassVar[str] = "agh.capability"

    document: dict[str, Any] | None = None
    digest: str | None = None
    verified: bool = False
    # The same document as JSON text: a database may keep objects in another order,
    # and numbers in another form.
    text: str | None = None
    # What else the envelope carried that brought it, for those it is passed on to.
    relay: str | None = None

    @classmethod
    def holding(
        cls,
        document: CapabilityDocument,
        relay: Document | None = None,
        path: str = "$",
    ) -> Self:
        """The record of a document that was transferred or read from a catalog."""
        stated = document.raw or document.to_wire()
        return cls(
            name=document.id,
            description=document.summary,
            document=stated,
            digest=document.digest(),
            verified=document.verified,
            text=serialised(stated).decode(),
            relay=serialised(relay).decode() if relay else None,
            path=path,
        )

    def whole(self) -> CapabilityDocument | None:
        """The document again, to be sent; None while only the brief is known."""
        if self.text is None:
            return None
        problems = Problems()
        document = CapabilityDocument.read(json.loads(self.text), problems)
        return None if problems.errors else document

    @property
    def lists(self) -> list[ToldList]:
        """The document's lists that say something, for people."""
        document = self.whole()
        if document is None:
            return []
        told = (ToldList(name, getattr(document, name)) for name in LABELS)
        return [one for one in told if one.items]

    def relayed(self) -> Document:
        """What came along with it, to be passed on."""
        return dict(json.loads(self.relay)) if self.relay else {}


KINDS = (
    Kind(
        "agh.capability",
        "AGH Capability",
        "agh",
        AGHCapability,
        discoverable=True,
        icon="puzzle",
        listed=("document", "digest", "verified"),
        relied_on=True,
    ),
)

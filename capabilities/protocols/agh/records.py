"""The capability records of AGH peers."""

import json
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ...kinds import Kind, PropertyRule
from ...problems import Document, Problems
from ...records import CapabilityRecord
from .documents import CapabilityDocument
from .members import dump_compact_json

LIST_LABELS = {
    "context_needed": "Context needed",
    "execution_outline": "Execution outline",
    "artifacts_expected": "Artifacts expected",
    "constraints": "Constraints",
    "examples": "Examples",
    "requirements": "Requirements",
}


@dataclass(frozen=True, slots=True)
class LabeledList:
    """A list of a capability document, as pages show it."""

    name: str
    items: tuple[str, ...]

    @property
    def label(self) -> str:
        return LIST_LABELS[self.name]

    @property
    def is_ordered(self) -> bool:
        """Whether the items are steps."""
        return self.name == "execution_outline"


@dataclass(frozen=True, kw_only=True)
class AGHCapability(CapabilityRecord):
    """A capability; `document` is None while only its brief is known.

    `verified` is true if the document was received with a matching digest.
    """

    kind: ClassVar[str] = "agh.capability"

    document: dict[str, Any] | None = None
    digest: str | None = None
    verified: bool = False
    # The document as JSON text, because a database may reorder the members of JSON
    # objects and change the format of numbers.
    text: str | None = None
    # Other members of the envelope in which the document came, as JSON text.
    relay: str | None = None

    @classmethod
    def from_document(
        cls,
        document: CapabilityDocument,
        relay: Document | None = None,
        path: str = "$",
    ) -> Self:
        """Return the record of a transferred document or one from a catalog."""
        raw = document.raw or document.to_wire()
        return cls(
            name=document.id,
            description=document.summary,
            document=raw,
            digest=document.compute_digest(),
            verified=document.is_verified,
            text=dump_compact_json(raw).decode(),
            relay=dump_compact_json(relay).decode() if relay else None,
            path=path,
        )

    def load_document(self) -> CapabilityDocument | None:
        """Return the parsed document, or None while only the brief is known."""
        if self.text is None:
            return None
        problems = Problems()
        document = CapabilityDocument.parse(json.loads(self.text), problems)
        return None if problems.errors else document

    @property
    def labeled_lists(self) -> list[LabeledList]:
        """The document's non-empty lists, for pages."""
        document = self.load_document()
        if document is None:
            return []
        lists = (LabeledList(name, getattr(document, name)) for name in LIST_LABELS)
        return [labeled for labeled in lists if labeled.items]

    def get_relay_members(self) -> Document:
        """Return the envelope members to pass on together with the document."""
        return dict(json.loads(self.relay)) if self.relay else {}


KINDS = (
    Kind(
        "agh.capability",
        "AGH Capability",
        "agh",
        AGHCapability,
        discoverable=True,
        icon="puzzle",
        list_properties=("document", "digest", "verified"),
        is_removal_breaking=True,
        rules={"text": PropertyRule.DERIVED, "digest": PropertyRule.DERIVED},
    ),
)

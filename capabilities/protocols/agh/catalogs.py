"""Rich discovery: asking for whole documents, answering, and reading the answer."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from ...problems import Document, member
from .bodies import read_document, refuse_false
from .cards import CATALOG
from .documents import CapabilityDocument
from .identifiers import trimmed
from .refusals import malformed

INCLUDE = "agh.include"
IDS = "agh.capability_ids"
CATALOG_WORD = "capability_catalog"


@dataclass(frozen=True, slots=True)
class CatalogRequest:
    """Whether whole documents are asked for; `ids` None is all, empty is none."""

    wanted: bool = False
    ids: frozenset[str] | None = None

    @classmethod
    def of(cls, ext: Document) -> Self:
        """What a whois request asks; a malformed filter lets nothing through."""
        if CATALOG_WORD not in (read_words(ext.get(INCLUDE)) or ()):
            return cls()
        if IDS not in ext:
            return cls(wanted=True)
        return cls(wanted=True, ids=frozenset(read_words(ext[IDS]) or ()))

    def to_ext(self) -> Document:
        """The ext of an envelope that asks just this."""
        if not self.wanted:
            return {}
        narrowed = {} if self.ids is None else {IDS: sorted(self.ids)}
        return {INCLUDE: [CATALOG_WORD], **narrowed}

    def selects(self, capability_id: str) -> bool:
        return self.wanted and (self.ids is None or capability_id in self.ids)


def read_words(value: Any) -> list[str] | None:
    """The texts that say something, trimmed; None when it is no list of texts."""
    if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
        return None
    return [word for each in value if (word := trimmed(each))]


def catalog_ext(
    documents: Iterable[CapabilityDocument], request: CatalogRequest
) -> Document:
    """The ext that answers: nothing unless asked, else a list in catalog order."""
    if not request.wanted:
        return {}
    chosen = [each.to_wire() for each in documents if request.selects(each.id)]
    return {CATALOG: {"capabilities": chosen}}


def read_catalog(
    ext: Document, at: str = "$.ext"
) -> tuple[CapabilityDocument, ...] | None:
    """The documents in the ext of a whois response, None when it brings no catalog.

    One without any digest is among them, unverified; raises Refusal for a false one.
    """
    if CATALOG not in ext:
        return None
    place, stated = member(at, CATALOG), ext[CATALOG]
    listed = stated.get("capabilities") if isinstance(stated, dict) else None
    if not isinstance(listed, list):
        raise malformed("must be an object with a list of capabilities", place)
    return tuple(read_listed(listed, member(place, "capabilities")))


def read_listed(listed: list[Any], at: str) -> Iterator[CapabilityDocument]:
    """Each document, and each id once."""
    taken = set[str]()
    for n, stated in enumerate(listed):
        path = f"{at}[{n}]"
        document = read_document(stated, path)
        if document.carried:
            refuse_false(document, path)
        if document.id in taken:
            message = f"{document.id!r} is listed already"
            raise malformed(message, member(path, "id"))
        taken.add(document.id)
        yield document

"""Seed 000's plain joins: what the read model and its indexes must agree with."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from capabilities.kinds import discoverable_kinds, kinds
from catalog.models import Capability
from catalog.search import fold, parse_terms


@dataclass(frozen=True)
class Row:
    """A capability and what the two promised orders look at."""

    capability: Capability

    @property
    def entry(self):
        return self.capability.agent_type.entry

    @property
    def identity(self) -> tuple[str, str, str]:
        return self.capability.kind, self.capability.name, str(self.entry.pk)

    @property
    def name_asc(self) -> tuple:
        kind = self.capability.kind.encode()
        return (self.name, kind, self.entry_name, self.entry.pk, self.capability.pk)

    @property
    def agentName_asc(self) -> tuple:  # noqa: N802 - the wire's own name
        kind = self.capability.kind.encode()
        return (self.entry_name, self.entry.pk, self.name, kind, self.capability.pk)

    @property
    def name(self) -> bytes:
        return ordered_by(self.capability.name)

    @property
    def entry_name(self) -> bytes:
        return ordered_by(self.entry.display_name)


def ordered_by(text: str) -> bytes:
    """The bytes of the folded text: of an endless one, as much as an index takes."""
    return fold(text).encode()[:800].decode(errors="ignore").encode()


def scan(q: str = "", kind: str = "", sort: str = "name_asc") -> list[Row]:
    """Every row that matches, in order, found by looking at every capability."""
    rows = (Row(capability) for capability in reachable() if says(capability, q))
    asked = [kind] if kind else discoverable_kinds()
    found = (row for row in rows if row.capability.kind in asked)
    return sorted(found, key=lambda row: getattr(row, sort))


def kind_counts(q: str) -> dict[str, int]:
    found = Counter(row.capability.kind for row in scan(q))
    return {kind: found[kind] for kind in discoverable_kinds()}


def reachable() -> list[Capability]:
    current = Capability.objects.filter(
        agent_type__entry__status__in=["active", "degraded"]
    )
    return list(current.select_related("agent_type__entry", "agent_type__provider"))


def says(capability: Capability, q: str) -> bool:
    fields = [fold(text) for text in texts(capability)]
    return all(any(term in field for field in fields) for term in parse_terms(q))


def texts(capability: Capability) -> Iterator[str]:
    yield from (capability.name, capability.description)
    for key in kinds.get(capability.kind).search_properties:
        yield from capability.properties.get(key) or []

"""A search with plain joins, which the indexed search must agree with."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from capabilities.kinds import discoverable_kinds, kinds
from catalog.models import Capability
from catalog.search import fold, parse_terms


@dataclass(frozen=True)
class Row:
    """A capability and its sort keys."""

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
    def agentName_asc(self) -> tuple:  # noqa: N802 - the name in the API
        kind = self.capability.kind.encode()
        return (self.entry_name, self.entry.pk, self.name, kind, self.capability.pk)

    @property
    def name(self) -> bytes:
        return sort_key(self.capability.name)

    @property
    def entry_name(self) -> bytes:
        return sort_key(self.entry.display_name)


def sort_key(text: str) -> bytes:
    """Return the bytes of the folded text, truncated as in the index."""
    return fold(text).encode()[:800].decode(errors="ignore").encode()


def search_by_scan(q: str = "", kind: str = "", sort: str = "name_asc") -> list[Row]:
    """Check every capability and return the matching rows in order."""
    rows = (Row(item) for item in list_reachable() if matches(item, q))
    searched_kinds = [kind] if kind else discoverable_kinds()
    matching = (row for row in rows if row.capability.kind in searched_kinds)
    return sorted(matching, key=lambda row: getattr(row, sort))


def count_by_kind(q: str) -> dict[str, int]:
    counts = Counter(row.capability.kind for row in search_by_scan(q))
    return {kind: counts[kind] for kind in discoverable_kinds()}


def list_reachable() -> list[Capability]:
    current = Capability.objects.filter(
        agent_type__entry__status__in=["active", "degraded"]
    )
    return list(current.select_related("agent_type__entry", "agent_type__provider"))


def matches(capability: Capability, q: str) -> bool:
    fields = [fold(text) for text in iter_texts(capability)]
    return all(any(term in field for field in fields) for term in parse_terms(q))


def iter_texts(capability: Capability) -> Iterator[str]:
    yield from (capability.name, capability.description)
    for key in kinds.get(capability.kind).search_properties:
        yield from capability.properties.get(key) or []

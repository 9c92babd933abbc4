"""Agents side by side: what each declares, what they share, and what only one has."""

import contextlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from django.http import QueryDict

from capabilities.features import COUNTED, CUSTOM, FEATURE, FEATURES, LABELS, Category
from capabilities.kinds import kinds

from .health import DAY, uptimes
from .models import Capability, CatalogEntry

FEWEST, MOST = 2, 4
# What a form calls them: a field named `id` would hide the form's own.
CHOSEN = "chosen"
# By what two capabilities are the same: a tool is a tool in every protocol.
Likeness = tuple[str, str]
OTHERS = Category("protocol", "Its protocol's own", ())
CATEGORIES = (*FEATURES, Category(CUSTOM, "Custom", ()), OTHERS)


class NotComparable(ValueError):
    """Too few, too many, or the same one twice."""


class Key(NamedTuple):
    """What a capability is called."""

    kind: str
    name: str


@dataclass(frozen=True)
class Side:
    """One agent: its entry, what it declares, and what it can do."""

    entry: CatalogEntry
    declared: dict[str, Any]
    offers: dict[Likeness, Key]

    @classmethod
    def of(cls, entry: CatalogEntry, rows: Iterable[Capability]) -> "Side":
        rows = list(rows)
        features = {
            row.name: row.properties.get("value")
            for row in rows
            if row.kind == FEATURE.slug
        }
        offers = {
            (role_of(row.kind) or row.kind, row.name): Key(row.kind, row.name)
            for row in rows
            if row.discoverable
        }
        roles = Counter(role for role, _ in offers)
        # That a definition lists none does not say that the agent has none.
        counts = {name: roles[role] for role, name in COUNTED.items() if roles[role]}
        return cls(entry, features | counts, offers)


def role_of(kind: str) -> str:
    known = kinds.get(kind)
    return known.record.role if known else ""


@dataclass(frozen=True)
class Row:
    """One feature across all sides; None is not declared."""

    name: str
    label: str
    values: list[Any]

    @property
    def leads_to_a_page(self) -> bool:
        """Whether a URL here is one that people read, and not an agent's own."""
        return self.name == "identity.documentationUrl"

    @property
    def differs(self) -> bool:
        """Whether two say different things; one who says nothing contradicts nobody."""
        said = [in_no_order(value) for value in self.values if value is not None]
        return any(value != said[0] for value in said[1:])


def in_no_order(value: Any) -> Any:
    """The same for lists that hold the same."""
    return sorted(map(json.dumps, value)) if isinstance(value, list) else value


@dataclass(frozen=True)
class Section:
    """The rows of a category, which has a name for programs and a label for people."""

    name: str
    label: str
    rows: list[Row]


class Shared(NamedTuple):
    """A capability that several agents have, and these agents."""

    key: Key
    sides: list[Side]

    @property
    def entries(self) -> list[UUID]:
        return [side.entry.pk for side in self.sides]


class ComparedEntry(NamedTuple):
    """An entry, its uptime of the last day, and what only its agent can do."""

    entry: CatalogEntry
    uptime: float | None
    only: list[Key]


class ComparedFeature(NamedTuple):
    """A row of the comparison, and the section that it stands in."""

    section: Section
    row: Row


@dataclass(frozen=True)
class Comparison:
    sides: list[Side]
    # Of the last day, by entry.
    uptimes: dict[UUID, float] = field(default_factory=dict)
    sections: list[Section] = field(default_factory=list)
    common: list[Key] = field(default_factory=list)
    # What several have, and not all.
    shared: list[Shared] = field(default_factory=list)
    only: dict[UUID, list[Key]] = field(default_factory=dict)

    @property
    def entries(self) -> list[ComparedEntry]:
        entries = [side.entry for side in self.sides]
        return [
            ComparedEntry(one, self.uptimes.get(one.pk), self.only[one.pk])
            for one in entries
        ]

    @property
    def features(self) -> list[ComparedFeature]:
        return [
            ComparedFeature(each, row) for each in self.sections for row in each.rows
        ]

    @property
    def uptime_by_side(self) -> list[float | None]:
        return [self.uptimes.get(side.entry.pk) for side in self.sides]

    @property
    def only_by_side(self) -> list[tuple[Side, list[Key]]]:
        return [(side, self.only[side.entry.pk]) for side in self.sides]


def ids_of(asked: QueryDict) -> list[UUID]:
    """The agents a query string names; ValueError for what is no id."""
    return [UUID(text) for text in asked.getlist("id") if text]


def chosen(asked: QueryDict) -> list[CatalogEntry]:
    """Those a page was told to compare, as far as they are there; pages forgive."""
    ids = []
    for text in filter(None, asked.getlist(CHOSEN)):
        with contextlib.suppress(ValueError):
            ids.append(UUID(text))
    known = CatalogEntry.objects.only("display_name").in_bulk(ids) if ids else {}
    return [known[pk] for pk in dict.fromkeys(ids) if pk in known][:MOST]


def compare(ids: Iterable[UUID]) -> Comparison:
    """In the order asked; raises when that cannot be compared or does not exist."""
    wanted = list(ids)
    if not FEWEST <= len(wanted) <= MOST:
        raise NotComparable(f"Choose {FEWEST} to {MOST} agents")
    if len(set(wanted)) < len(wanted):
        raise NotComparable("Choose each agent once")
    entries = CatalogEntry.objects.select_related("agent_type__provider")
    entries = entries.defer("agent_type__raw_definition")
    found = entries.prefetch_related("agent_type__capabilities").in_bulk(wanted)
    missing = next((pk for pk in wanted if pk not in found), None)
    if missing:
        raise CatalogEntry.DoesNotExist(missing)
    sides = [
        Side.of(found[pk], found[pk].agent_type.capabilities.all()) for pk in wanted
    ]
    holders = by_likeness(sides)
    return Comparison(
        sides,
        uptimes(wanted, DAY),
        list(compared(sides)),
        [key for key, having in holders if len(having) == len(sides)],
        [one for one in holders if 1 < len(one.sides) < len(sides)],
        {
            side.entry.pk: [key for key, having in holders if having == [side]]
            for side in sides
        },
    )


def compared(sides: list[Side]) -> Iterator[Section]:
    """What the catalog knows of each, then what they declare."""
    identity, *abilities = CATEGORIES
    rows = [*overview(sides), *rows_of(identity, sides)]
    yield Section(identity.name, identity.label, rows)
    yield from sections(sides, abilities)


def sections(
    sides: list[Side], categories: Iterable[Category] = CATEGORIES
) -> Iterator[Section]:
    """Every category that anybody declares something in."""
    for category in categories:
        if rows := list(rows_of(category, sides)):
            yield Section(category.name, category.label, rows)


def rows_of(category: Category, sides: list[Side]) -> Iterator[Row]:
    """Standard features in their order, then whatever else is declared."""
    labels = {each.name: each.label for each in category.features}
    declared = {name for side in sides for name in side.declared}
    others = sorted(name for name in declared if home(name) == category.name)
    for name in dict.fromkeys([*labels, *others]):
        label = labels.get(name) or LABELS.get(name)
        label = label or name.removeprefix(f"{category.name}.")
        values = [side.declared.get(name) for side in sides]
        if any(value is not None for value in values):
            yield Row(name, label, values)


def home(name: str) -> str:
    """The category that a feature belongs to by its name."""
    prefix = name.partition(".")[0]
    return prefix if any(prefix == each.name for each in CATEGORIES) else OTHERS.name


def overview(sides: list[Side]) -> Iterator[Row]:
    """What the catalog keeps of every agent."""
    types = [side.entry.agent_type for side in sides]
    for name, label, values in (
        ("protocol", "Protocol", [one.protocol for one in types]),
        ("description", "Description", [side.entry.description for side in sides]),
        ("version", "Version", [one.version for one in types]),
        ("specVersion", "Spec version", [one.spec_version for one in types]),
        ("provider", "Provider", [str(one.provider or "") for one in types]),
        ("endpoint", "Endpoint", [one.endpoint for one in types]),
    ):
        yield Row(f"identity.{name}", label, [value or None for value in values])


def by_likeness(sides: list[Side]) -> list[Shared]:
    """Everything that any can do, by name, and who of them can."""
    having: dict[Likeness, list[Side]] = {}
    keys: dict[Likeness, Key] = {}
    for side in sides:
        for likeness, key in side.offers.items():
            having.setdefault(likeness, []).append(side)
            keys.setdefault(likeness, key)
    order = sorted(having, key=lambda likeness: (likeness[1], likeness[0]))
    return [Shared(keys[likeness], having[likeness]) for likeness in order]

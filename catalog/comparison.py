"""Compare agents: the features each declares, and the capabilities they share."""

import contextlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from django.http import QueryDict

from capabilities.features import (
    COUNT_FEATURES_BY_ROLE,
    CUSTOM_CATEGORY,
    FEATURE_CATEGORIES,
    FEATURE_KIND,
    FEATURE_LABELS,
    Category,
)
from capabilities.kinds import kinds

from .health import DAY, compute_uptimes
from .models import Capability, CatalogEntry

MIN_AGENTS, MAX_AGENTS = 2, 4
# Form fields need another name than `id`: a field named `id` hides the form's own `id`.
SELECTED_PARAMETER = "chosen"
# Role (or kind, where a kind has no role) and name. Capabilities with the same key are
# the same: a tool of one protocol matches a tool of another.
MatchKey = tuple[str, str]
PROTOCOL_SPECIFIC = Category("protocol", "Protocol-specific", ())
COMPARED_CATEGORIES = (
    *FEATURE_CATEGORIES,
    Category(CUSTOM_CATEGORY, "Custom", ()),
    PROTOCOL_SPECIFIC,
)


class NotComparable(ValueError):
    """Too few agents, too many agents, or the same agent twice."""


class CapabilityKey(NamedTuple):
    """The kind and name of a capability."""

    kind: str
    name: str


@dataclass(frozen=True)
class ComparedAgent:
    """An entry with its declared features and its discoverable capabilities."""

    entry: CatalogEntry
    features: dict[str, Any]
    capabilities: dict[MatchKey, CapabilityKey]

    @classmethod
    def from_entry(
        cls, entry: CatalogEntry, rows: Iterable[Capability]
    ) -> "ComparedAgent":
        """Sort the entry's capability rows into features and capabilities."""
        rows = list(rows)
        features = {
            row.name: row.properties.get("value")
            for row in rows
            if row.kind == FEATURE_KIND.slug
        }
        capabilities = {
            (get_role(row.kind) or row.kind, row.name): CapabilityKey(
                row.kind, row.name
            )
            for row in rows
            if row.discoverable
        }
        roles = Counter(role for role, _ in capabilities)
        # Zero is left out: a definition without tools may belong to an agent with some.
        counts = {
            name: roles[role]
            for role, name in COUNT_FEATURES_BY_ROLE.items()
            if roles[role]
        }
        return cls(entry, features | counts, capabilities)


def get_role(slug: str) -> str:
    kind = kinds.get(slug)
    return kind.record_class.role if kind else ""


@dataclass(frozen=True)
class ComparisonRow:
    """One feature with its value for each agent; None means undeclared."""

    name: str
    label: str
    values: list[Any]

    @property
    def is_web_page(self) -> bool:
        """Whether a URL in this row is a page for people, not an agent endpoint."""
        return self.name == "identity.documentationUrl"

    @property
    def differs(self) -> bool:
        """Whether two declared values differ; missing values are ignored."""
        values = [normalize_value(value) for value in self.values if value is not None]
        return any(value != values[0] for value in values[1:])


def normalize_value(value: Any) -> Any:
    """Return a value that is equal for lists with the same items in any order."""
    return sorted(map(json.dumps, value)) if isinstance(value, list) else value


@dataclass(frozen=True)
class ComparisonSection:
    """The rows of one category; `name` is for programs, `label` for people."""

    name: str
    label: str
    rows: list[ComparisonRow]


class ComparedCapability(NamedTuple):
    """A capability and the agents that have it."""

    key: CapabilityKey
    agents: list[ComparedAgent]

    @property
    def entry_ids(self) -> list[UUID]:
        return [agent.entry.pk for agent in self.agents]


class ComparedEntry(NamedTuple):
    """An entry, its uptime of the last 24 hours, and the capabilities only it has."""

    entry: CatalogEntry
    uptime: float | None
    unique: list[CapabilityKey]


class ComparedFeature(NamedTuple):
    """A row of the comparison and its section."""

    section: ComparisonSection
    row: ComparisonRow


@dataclass(frozen=True)
class Comparison:
    agents: list[ComparedAgent]
    # Uptime of the last 24 hours by entry.
    uptimes: dict[UUID, float] = field(default_factory=dict)
    sections: list[ComparisonSection] = field(default_factory=list)
    # Capabilities that all agents have.
    common: list[CapabilityKey] = field(default_factory=list)
    # Capabilities that at least two agents have, but not all.
    shared: list[ComparedCapability] = field(default_factory=list)
    # Capabilities that only one agent has, by entry.
    unique: dict[UUID, list[CapabilityKey]] = field(default_factory=dict)

    @property
    def entries(self) -> list[ComparedEntry]:
        entries = [agent.entry for agent in self.agents]
        return [
            ComparedEntry(entry, self.uptimes.get(entry.pk), self.unique[entry.pk])
            for entry in entries
        ]

    @property
    def features(self) -> list[ComparedFeature]:
        return [
            ComparedFeature(section, row)
            for section in self.sections
            for row in section.rows
        ]

    @property
    def agent_uptimes(self) -> list[float | None]:
        """The uptime of each agent, in the order of `agents`."""
        return [self.uptimes.get(agent.entry.pk) for agent in self.agents]

    @property
    def unique_by_agent(self) -> list[tuple[ComparedAgent, list[CapabilityKey]]]:
        return [(agent, self.unique[agent.entry.pk]) for agent in self.agents]


def parse_entry_ids(query: QueryDict) -> list[UUID]:
    """Return the `id` values of a query string; raise ValueError for a non-UUID."""
    return [parse_entry_id(text) for text in query.getlist("id") if text]


def parse_entry_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise ValueError(f"{text[:100]!r} is not a UUID") from error


def get_selected_entries(query: QueryDict) -> list[CatalogEntry]:
    """Return the entries selected on a page, at most `MAX_AGENTS`.

    IDs that are not UUIDs or not in the catalog are ignored.
    """
    ids = []
    for text in filter(None, query.getlist(SELECTED_PARAMETER)):
        with contextlib.suppress(ValueError):
            ids.append(UUID(text))
    entries = CatalogEntry.objects.only("display_name").in_bulk(ids) if ids else {}
    return [entries[pk] for pk in dict.fromkeys(ids) if pk in entries][:MAX_AGENTS]


def compare(ids: Iterable[UUID]) -> Comparison:
    """Compare entries, in the order of their IDs.

    Raise NotComparable for a bad number of IDs or a repeated ID, and
    CatalogEntry.DoesNotExist for an unknown ID.
    """
    ids = list(ids)
    if not MIN_AGENTS <= len(ids) <= MAX_AGENTS:
        raise NotComparable(f"Select {MIN_AGENTS} to {MAX_AGENTS} agents")
    if len(set(ids)) < len(ids):
        raise NotComparable("Select each agent only once")
    queryset = CatalogEntry.objects.select_related("agent_type__provider")
    queryset = queryset.defer("agent_type__raw_definition")
    entries = queryset.prefetch_related("agent_type__capabilities").in_bulk(ids)
    missing = next((pk for pk in ids if pk not in entries), None)
    if missing:
        raise CatalogEntry.DoesNotExist(missing)
    agents = [
        ComparedAgent.from_entry(entries[pk], entries[pk].agent_type.capabilities.all())
        for pk in ids
    ]
    return build_comparison(agents)


def build_comparison(agents: list[ComparedAgent]) -> Comparison:
    groups = group_capabilities(agents)
    return Comparison(
        agents=agents,
        uptimes=compute_uptimes([agent.entry for agent in agents], DAY),
        sections=list(iter_comparison_sections(agents)),
        common=[group.key for group in groups if len(group.agents) == len(agents)],
        shared=[group for group in groups if 1 < len(group.agents) < len(agents)],
        unique={
            agent.entry.pk: [group.key for group in groups if group.agents == [agent]]
            for agent in agents
        },
    )


def iter_comparison_sections(
    agents: list[ComparedAgent],
) -> Iterator[ComparisonSection]:
    """Yield the sections of a comparison, beginning with the entries' own fields."""
    identity, *categories = COMPARED_CATEGORIES
    rows = [*iter_entry_rows(agents), *iter_feature_rows(identity, agents)]
    yield ComparisonSection(identity.name, identity.label, rows)
    yield from iter_feature_sections(agents, categories)


def iter_feature_sections(
    agents: list[ComparedAgent], categories: Iterable[Category] = COMPARED_CATEGORIES
) -> Iterator[ComparisonSection]:
    """Yield each category in which at least one agent declares a feature."""
    for category in categories:
        if rows := list(iter_feature_rows(category, agents)):
            yield ComparisonSection(category.name, category.label, rows)


def iter_feature_rows(
    category: Category, agents: list[ComparedAgent]
) -> Iterator[ComparisonRow]:
    """Yield the category's standard features, then its other declared features."""
    labels = {feature.name: feature.label for feature in category.features}
    declared = {name for agent in agents for name in agent.features}
    in_category = sorted(
        name for name in declared if get_category(name) == category.name
    )
    for name in dict.fromkeys([*labels, *in_category]):
        label = labels.get(name) or FEATURE_LABELS.get(name)
        label = label or name.removeprefix(f"{category.name}.")
        values = [agent.features.get(name) for agent in agents]
        if any(value is not None for value in values):
            yield ComparisonRow(name, label, values)


def get_category(feature: str) -> str:
    """Return the category that the first part of a feature name belongs to."""
    prefix = feature.partition(".")[0]
    if any(prefix == category.name for category in COMPARED_CATEGORIES):
        return prefix
    return PROTOCOL_SPECIFIC.name


def iter_entry_rows(agents: list[ComparedAgent]) -> Iterator[ComparisonRow]:
    """Yield rows for the fields of entries and agent types."""
    entries = [agent.entry for agent in agents]
    types = [entry.agent_type for entry in entries]
    for name, label, values in (
        ("protocol", "Protocol", [agent_type.protocol for agent_type in types]),
        ("description", "Description", [entry.description for entry in entries]),
        ("version", "Version", [agent_type.version for agent_type in types]),
        (
            "specVersion",
            "Spec version",
            [agent_type.spec_version for agent_type in types],
        ),
        (
            "provider",
            "Provider",
            [str(agent_type.provider or "") for agent_type in types],
        ),
        ("endpoint", "Endpoint", [agent_type.endpoint for agent_type in types]),
    ):
        yield ComparisonRow(
            f"identity.{name}", label, [value or None for value in values]
        )


def group_capabilities(agents: list[ComparedAgent]) -> list[ComparedCapability]:
    """Return every capability with the agents that have it, sorted by name."""
    owners: dict[MatchKey, list[ComparedAgent]] = {}
    keys: dict[MatchKey, CapabilityKey] = {}
    for agent in agents:
        for match_key, key in agent.capabilities.items():
            owners.setdefault(match_key, []).append(agent)
            keys.setdefault(match_key, key)
    order = sorted(owners, key=lambda match_key: (match_key[1], match_key[0]))
    return [ComparedCapability(keys[key], owners[key]) for key in order]

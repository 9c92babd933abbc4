"""Differences between two definitions of one agent, in a limited size."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from capabilities.differences import (
    CapabilityContent,
    FieldChange,
    StepBudget,
    compare_agents,
    compare_capabilities,
    describe_agent,
    find_new_demand,
    find_removal_reason,
    shorten,
)
from capabilities.kinds import capability_identity, kinds
from capabilities.records import AgentRecord, CapabilityRecord

from ..events import ChangeSummary
from ..models import AgentType, Capability
from .event_details import select_event_details

# Field changes stored for a definition and for each of its capabilities, and bytes of
# those of all capabilities.
FIELD_CHANGE_LIMIT = 200
CAPABILITY_CHANGE_LIMIT = 50
DETAIL_BYTES_LIMIT = 65_536
# Reasons for which a change breaks clients, and characters of a name in them.
REASON_LIMIT = 20
REASON_NAME_LIMIT = 100

# Kind and identity of a capability.
IdentityKey = tuple[str, str]
# Name and content of each capability, by kind and identity.
CapabilityIndex = dict[IdentityKey, tuple[str, CapabilityContent]]


@dataclass(frozen=True, slots=True)
class AgentContent:
    """What is compared of a definition: fields of the agent, and its capabilities."""

    fields: Mapping[str, Any]
    capabilities: CapabilityIndex

    @classmethod
    def from_record(cls, record: AgentRecord) -> "AgentContent":
        return cls(describe_agent(record), index_capabilities(record.capabilities))

    @classmethod
    def from_stored(
        cls, agent_type: AgentType, record: AgentRecord | None
    ) -> "AgentContent":
        """Return the content of a stored agent type.

        `record` is parsed from its definition: the name and the description of the
        entry may have been edited. Without it, only the agent type is compared.
        """
        fields: dict[str, Any] = {
            "version": agent_type.version,
            "spec_version": agent_type.spec_version,
            "endpoint": agent_type.endpoint,
        }
        if record is not None:
            fields = describe_agent(record) | fields
        return cls(fields, index_capabilities(agent_type.capabilities.all()))


@dataclass(frozen=True, slots=True)
class DefinitionDifferences:
    """What differs between two definitions of an agent, as JSON values.

    Added, removed and changed capabilities have `kind` and `name`, and `breaking` if
    that is known to be true or false. The changed ones also have `changes`, and
    `omitted`, the number of changes left out.
    """

    added: list[dict[str, Any]] = field(default_factory=list)
    removed: list[dict[str, Any]] = field(default_factory=list)
    changed: list[dict[str, Any]] = field(default_factory=list)
    # Changes of the fields of the agent itself.
    fields: list[dict[str, Any]] = field(default_factory=list)
    total_breaking: int = 0
    # The first REASON_LIMIT of them.
    breaking_reasons: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.fields)

    @property
    def summary(self) -> ChangeSummary:
        """What events have of the differences."""
        details, omitted = select_event_details(self.fields, self.changed)
        return ChangeSummary(
            added=len(self.added),
            removed=len(self.removed),
            changed=len(self.changed),
            fields=tuple(dict.fromkeys(change["field"] for change in self.fields)),
            breaking_count=self.total_breaking,
            breaking_reasons=tuple(self.breaking_reasons),
            details=tuple(details),
            omitted=omitted,
        )


def get_content(capability: Capability | CapabilityRecord) -> CapabilityContent:
    return capability.description, capability.properties


def index_capabilities(
    capabilities: Iterable[Capability | CapabilityRecord],
) -> CapabilityIndex:
    """Return names and contents by kind and identity."""
    return {
        (row.kind, capability_identity(row.kind, row.name, row.properties)): (
            row.name,
            get_content(row),
        )
        for row in capabilities
    }


def diff_definitions(
    before: AgentContent, after: AgentContent
) -> DefinitionDifferences:
    """Return what differs, and what of it breaks clients."""
    old, new = before.capabilities, after.capabilities
    added = list_added(new, sort_keys(new, new.keys() - old.keys()))
    removed = list_removed(old, sort_keys(old, old.keys() - new.keys()))
    # The name is not compared: if several capabilities have the same name, a number is
    # added to it, and that may change without any other change.
    common = (key for key in old.keys() & new.keys() if old[key][1] != new[key][1])
    budget = StepBudget()
    changes = {
        key: compare_capabilities(key[0], new[key][0], old[key][1], new[key][1], budget)
        for key in sort_keys(new, common)
    }
    reasons = [
        *(item.pop("reason") for item in (*removed, *added) if "reason" in item),
        *list_change_reasons(new, changes),
    ]
    return DefinitionDifferences(
        added=added,
        removed=removed,
        changed=list_changed(new, changes),
        fields=[
            change.to_json() for change in compare_agents(before.fields, after.fields)
        ],
        total_breaking=len(reasons),
        breaking_reasons=reasons[:REASON_LIMIT],
    )


def sort_keys(index: CapabilityIndex, keys: Iterable[IdentityKey]) -> list[IdentityKey]:
    """Return the keys in the order of kind and name."""
    return sorted(keys, key=lambda key: (key[0], index[key][0]))


def list_added(
    index: CapabilityIndex, keys: Iterable[IdentityKey]
) -> list[dict[str, Any]]:
    """Return the new capabilities; those that demand something of clients break them.

    These have `breaking` and a `reason`.
    """
    items = []
    for key in keys:
        name, (_, properties) = index[key]
        item: dict[str, Any] = {"kind": key[0], "name": name}
        if reason := find_new_demand(key[0], name, properties):
            item |= {"breaking": True, "reason": build_reason(key[0], name, reason)}
        items.append(item)
    return items


def list_removed(
    index: CapabilityIndex, keys: Iterable[IdentityKey]
) -> list[dict[str, Any]]:
    """Return the removed capabilities; `reason` says why this breaks clients."""
    items = []
    for key in keys:
        name, (_, properties) = index[key]
        reason = find_removal_reason(key[0], name, properties)
        item = {"kind": key[0], "name": name, "breaking": bool(reason)}
        if reason:
            item["reason"] = build_reason(key[0], name, reason)
        items.append(item)
    return items


def list_change_reasons(
    index: CapabilityIndex, changes: Mapping[IdentityKey, list[FieldChange]]
) -> list[str]:
    """Return a sentence for each change of a capability that breaks clients."""
    return [
        build_reason(key[0], index[key][0], change.summary)
        for key in changes
        for change in changes[key]
        if change.breaking
    ]


def build_reason(kind_slug: str, name: str, reason: str) -> str:
    kind = kinds.get(kind_slug)
    label = kind.label if kind else kind_slug
    return f"{label} {shorten(name, REASON_NAME_LIMIT)}: {reason}"


def list_changed(
    index: CapabilityIndex, changes: Mapping[IdentityKey, list[FieldChange]]
) -> list[dict[str, Any]]:
    """Return the changed capabilities with as many details as the limits allow."""
    details = select_details(changes)
    return [
        {
            "kind": key[0],
            "name": index[key][0],
            "breaking": any(change.breaking for change in changes[key]),
            "changes": details[key],
            "omitted": len(changes[key]) - len(details[key]),
        }
        for key in changes
    ]


def select_details(
    changes: Mapping[IdentityKey, list[FieldChange]],
) -> dict[IdentityKey, list[dict[str, Any]]]:
    """Return the changes within the limits, first those that break clients."""
    details: dict[IdentityKey, list[dict[str, Any]]] = {key: [] for key in changes}
    candidates = [
        (key, change)
        for key in changes
        for change in changes[key][:CAPABILITY_CHANGE_LIMIT]
    ]
    candidates.sort(key=lambda candidate: not candidate[1].breaking)
    size = 0
    for key, change in candidates[:FIELD_CHANGE_LIMIT]:
        detail = change.to_json()
        size += len(json.dumps(detail))
        if size > DETAIL_BYTES_LIMIT:
            break
        details[key].append(detail)
    return details

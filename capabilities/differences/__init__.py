"""Differences between two definitions of an agent, and which of them break clients."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..records import AgentRecord
from .changes import FieldChange, shorten
from .rules import (
    compare_properties,
    compare_values,
    find_new_demand,
    find_removal_reason,
)
from .schema_changes import compare_schemas
from .steps import StepBudget

__all__ = [
    "FieldChange",
    "StepBudget",
    "compare_agents",
    "compare_capabilities",
    "compare_schemas",
    "describe_agent",
    "find_new_demand",
    "find_removal_reason",
    "shorten",
]

# Description and properties.
CapabilityContent = tuple[str, dict[str, Any]]


def describe_agent(record: AgentRecord) -> dict[str, Any]:
    """Return the fields of an agent that are compared, without its capabilities."""
    return {
        "version": record.version,
        "spec_version": record.spec_version,
        "display_name": record.display_name,
        "description": record.description,
        "endpoint": record.endpoint,
        "provider": asdict(record.provider) if record.provider else None,
    }


def compare_agents(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[FieldChange]:
    """Return the changes of the fields of an agent that are in both mappings."""
    return [
        change
        for field in before
        if field in after and before[field] != after[field]
        for change in compare_values(field, before[field], after[field])
    ]


def compare_capabilities(
    kind: str,
    name: str,
    before: CapabilityContent,
    after: CapabilityContent,
    budget: StepBudget | None = None,
) -> list[FieldChange]:
    """Return the changes of a capability's description and properties.

    Changes that break clients come first. The budget limits the comparison of the
    schemas of all capabilities of a definition.
    """
    budget = budget or StepBudget()
    changes = [*compare_properties(kind, name, before[1], after[1], budget)]
    if before[0] != after[0]:
        changes.append(FieldChange("description", before[0], after[0], "changed"))
    return sorted(changes, key=lambda change: not change.breaking)

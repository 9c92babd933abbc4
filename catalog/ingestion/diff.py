"""Differences between the capabilities of two definitions of one agent."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from capabilities.kinds import capability_identity, is_removal_breaking
from capabilities.records import CapabilityRecord

from ..models import Capability

# Kind and identity of a capability.
IdentityKey = tuple[str, str]
# Description and properties.
CapabilityContent = tuple[str, dict[str, Any]]
# Name and content of each capability, by kind and identity.
CapabilityIndex = dict[IdentityKey, tuple[str, CapabilityContent]]


@dataclass(frozen=True, slots=True)
class CapabilityChanges:
    """Capabilities that differ between two definitions, as {"kind", "name"}."""

    added: list[dict[str, str]] = field(default_factory=list)
    removed: list[dict[str, str]] = field(default_factory=list)
    changed: list[dict[str, str]] = field(default_factory=list)

    @property
    def breaking_removals(self) -> list[dict[str, str]]:
        """The removed capabilities that clients rely on."""
        return [
            removed for removed in self.removed if is_removal_breaking(removed["kind"])
        ]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


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


def diff_capabilities(
    before: CapabilityIndex, after: CapabilityIndex
) -> CapabilityChanges:
    def list_capabilities(
        index: CapabilityIndex, keys: Iterable[IdentityKey]
    ) -> list[dict[str, str]]:
        pairs = sorted((key[0], index[key][0]) for key in keys)
        return [{"kind": kind, "name": name} for kind, name in pairs]

    # The name is not compared: if several capabilities have the same name, a number is
    # added to it, and that may change without any other change.
    common = before.keys() & after.keys()
    changed = (key for key in common if before[key][1] != after[key][1])
    return CapabilityChanges(
        added=list_capabilities(after, after.keys() - before.keys()),
        removed=list_capabilities(before, before.keys() - after.keys()),
        changed=list_capabilities(after, changed),
    )

"""Differences between the capabilities of two definitions of one agent."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from capabilities.kinds import capability_identity, removal_breaks_clients
from capabilities.records import CapabilityRecord

from ..models import Capability

# Kind and identity of a capability.
Key = tuple[str, str]
# Description and properties.
Content = tuple[str, dict[str, Any]]
# Name and content of each capability.
CapabilityIndex = dict[Key, tuple[str, Content]]


@dataclass(frozen=True, slots=True)
class CapabilityChanges:
    """Capabilities that differ between two definitions, as {"kind", "name"}."""

    added: list[dict[str, str]] = field(default_factory=list)
    removed: list[dict[str, str]] = field(default_factory=list)
    changed: list[dict[str, str]] = field(default_factory=list)

    @property
    def breaking(self) -> list[dict[str, str]]:
        """The removed capabilities that clients rely on."""
        return [item for item in self.removed if removal_breaks_clients(item["kind"])]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def get_content(capability: Capability | CapabilityRecord) -> Content:
    return capability.description, capability.properties


def index_capabilities(
    capabilities: Iterable[Capability | CapabilityRecord],
) -> CapabilityIndex:
    """Return names and contents by kind and identity."""
    return {
        (item.kind, capability_identity(item.kind, item.name, item.properties)): (
            item.name,
            get_content(item),
        )
        for item in capabilities
    }


def diff_capabilities(
    before: CapabilityIndex, after: CapabilityIndex
) -> CapabilityChanges:
    def to_items(index: CapabilityIndex, keys: Iterable[Key]) -> list[dict[str, str]]:
        pairs = sorted((key[0], index[key][0]) for key in keys)
        return [{"kind": kind, "name": name} for kind, name in pairs]

    # The name is not compared: it may only have lost the number that kept it unique.
    common = before.keys() & after.keys()
    changed = (key for key in common if before[key][1] != after[key][1])
    return CapabilityChanges(
        added=to_items(after, after.keys() - before.keys()),
        removed=to_items(before, before.keys() - after.keys()),
        changed=to_items(after, changed),
    )

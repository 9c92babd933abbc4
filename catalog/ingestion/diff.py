"""What differs between two definitions of one agent."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from capabilities.kinds import identity, is_relied_on
from capabilities.records import CapabilityRecord

from ..models import Capability

Key = tuple[str, str]
Content = tuple[str, dict[str, Any]]
Contents = dict[Key, tuple[str, Content]]


@dataclass(frozen=True, slots=True)
class Changes:
    """Capabilities that differ between two definitions, as {"kind", "name"}."""

    added: list[dict[str, str]] = field(default_factory=list)
    removed: list[dict[str, str]] = field(default_factory=list)
    changed: list[dict[str, str]] = field(default_factory=list)

    @property
    def breaking(self) -> list[dict[str, str]]:
        """What went away and clients relied on."""
        return [gone for gone in self.removed if is_relied_on(gone["kind"])]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def content(capability: Capability | CapabilityRecord) -> Content:
    return capability.description, capability.properties


def contents(capabilities: Iterable[Capability | CapabilityRecord]) -> Contents:
    """By kind and by what each is known again by: its name, and what it says."""
    return {
        (one.kind, identity(one.kind, one.name, one.properties)): (
            one.name,
            content(one),
        )
        for one in capabilities
    }


def compare(before: Contents, after: Contents) -> Changes:
    def listed(named: Contents, keys: Iterable[Key]) -> list[dict[str, str]]:
        told = sorted((kind, named[kind, known][0]) for kind, known in keys)
        return [{"kind": kind, "name": name} for kind, name in told]

    # Not by its name, which may only have become free for it.
    common = before.keys() & after.keys()
    changed = (key for key in common if before[key][1] != after[key][1])
    return Changes(
        added=listed(after, after.keys() - before.keys()),
        removed=listed(before, before.keys() - after.keys()),
        changed=listed(after, changed),
    )

"""The kinds of capability, filled by `CapabilitiesConfig.ready()` and by other apps."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .records import CapabilityRecord
from .registry import Registry


@dataclass(frozen=True, slots=True)
class Kind:
    """What one kind of capability is; `listed` and `searched` name properties.

    `relied_on` says that clients break when one of these goes away; `told_apart_by`
    names the property by which one is known again in another definition, if it is not
    its name.
    """

    slug: str
    label: str
    protocol: str
    record: type[CapabilityRecord]
    discoverable: bool
    icon: str = "dot"
    listed: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    relied_on: bool = False
    told_apart_by: str = ""


kinds: Registry[Kind] = Registry("Capability kind")


def discoverable_kinds() -> list[str]:
    """Slugs of the kinds people search for, sorted."""
    return sorted(kind.slug for kind in kinds if kind.discoverable)


def kinds_of_role(role: str) -> list[str]:
    """Slugs of the kinds that are tools, or sub-agents, to one who asks for those."""
    return [kind.slug for kind in kinds if kind.record.role == role]


def identity(kind: str, name: str, properties: Mapping[str, Any]) -> str:
    """By what a capability is known again when its definition changes."""
    known = kinds.get(kind)
    told = properties.get(known.told_apart_by) if known else None
    return str(told or name)


def is_relied_on(slug: str) -> bool:
    kind = kinds.get(slug)
    return kind is not None and kind.relied_on


def kind_choices() -> list[tuple[str, str]]:
    """Choices for fields; a plain function, so that migrations can name it."""
    return kinds.choices()

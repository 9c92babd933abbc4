"""The kinds of capability, filled by `CapabilitiesConfig.ready()` and by other apps."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .records import CapabilityRecord
from .registry import Registry


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of capability, such as A2A skills or MCP tools."""

    slug: str
    label: str
    protocol: str
    record_class: type[CapabilityRecord]
    # Whether people search for capabilities of this kind.
    discoverable: bool
    icon: str = "dot"
    # The properties that lists show, and those that the search reads.
    list_properties: tuple[str, ...] = ()
    search_properties: tuple[str, ...] = ()
    # Whether removing a capability of this kind breaks clients.
    is_removal_breaking: bool = False
    # The property that identifies a capability across versions; "" for its name.
    identity_property: str = ""


kinds: Registry[Kind] = Registry("Capability kind")


def discoverable_kinds() -> list[str]:
    """Return the slugs of the kinds people search for, sorted."""
    return sorted(kind.slug for kind in kinds if kind.discoverable)


def kinds_with_role(role: str) -> list[str]:
    """Return the slugs of the kinds with a role, such as "tool"."""
    return [kind.slug for kind in kinds if kind.record_class.role == role]


def capability_identity(
    kind_slug: str, name: str, properties: Mapping[str, Any]
) -> str:
    """Return what identifies a capability within its kind across versions."""
    kind = kinds.get(kind_slug)
    value = properties.get(kind.identity_property) if kind else None
    return str(value or name)


def is_removal_breaking(slug: str) -> bool:
    """Return whether removing a capability of this kind breaks clients."""
    kind = kinds.get(slug)
    return kind is not None and kind.is_removal_breaking


def kind_choices() -> list[tuple[str, str]]:
    """Return choices for model fields; a plain function because migrations name it."""
    return kinds.choices()

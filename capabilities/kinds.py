"""The kinds of capability, filled by `CapabilitiesConfig.ready()` and by other apps."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .records import CapabilityRecord
from .registry import Registry


class PropertyRule(StrEnum):
    """When a change of a property breaks clients; without a rule, it never does."""

    # A JSON schema of what clients send, or of what they receive.
    INPUT_SCHEMA = "input schema"
    OUTPUT_SCHEMA = "output schema"
    # Named arguments, each an object with `name` and `required`.
    ARGUMENTS = "arguments"
    # A list or an object whose items clients choose from: removing one breaks clients.
    OPTIONS = "options"
    # Any change of a value that was there breaks clients.
    FIXED = "fixed"
    # The value of a feature: losing it breaks clients.
    FEATURE = "feature"
    # A flag that demands something of clients when it is set.
    DEMAND = "demand"
    # Alternative security requirements, each a mapping of schemes to scopes.
    SECURITY_REQUIREMENTS = "security requirements"
    # Computed from other properties and not compared.
    DERIVED = "derived"


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
    # The rules of properties, and of capabilities with a name of their own.
    rules: Mapping[str, PropertyRule] = field(default_factory=dict, hash=False)
    rules_by_name: Mapping[str, PropertyRule] = field(default_factory=dict, hash=False)

    def get_rule(self, capability_name: str, property_name: str) -> PropertyRule | None:
        rule = self.rules_by_name.get(capability_name)
        return rule or self.rules.get(property_name)


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


def to_camel_case(name: str) -> str:
    """Return the name of a property as the API writes it."""
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)


def kind_choices() -> list[tuple[str, str]]:
    """Return choices for model fields; a plain function because migrations name it."""
    return kinds.choices()

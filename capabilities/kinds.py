"""The kinds of capability, filled by `CapabilitiesConfig.ready()` and by other apps."""

from dataclasses import dataclass

from .records import CapabilityRecord
from .registry import Registry


@dataclass(frozen=True, slots=True)
class Kind:
    """What one kind of capability is; `listed` and `searched` name properties."""

    slug: str
    label: str
    protocol: str
    record: type[CapabilityRecord]
    discoverable: bool
    icon: str = "dot"
    listed: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()


kinds: Registry[Kind] = Registry("Capability kind")


def discoverable_kinds() -> list[str]:
    """Slugs of the kinds people search for, sorted."""
    return sorted(kind.slug for kind in kinds if kind.discoverable)


def kind_choices() -> list[tuple[str, str]]:
    """Choices for fields; a plain function, so that migrations can name it."""
    return kinds.choices()

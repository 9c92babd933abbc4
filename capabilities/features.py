"""What an agent declares beside its capabilities, whatever its protocol."""

from dataclasses import dataclass
from typing import Any, ClassVar

from .kinds import Kind
from .records import CapabilityRecord


@dataclass(frozen=True, kw_only=True)
class AgentFeature(CapabilityRecord):
    """A flag, number, list or text, named `category.flag`: `transport.streaming`."""

    kind: ClassVar[str] = "agent.feature"
    names_its_agent: ClassVar[bool] = False

    value: Any = None


FEATURE = Kind("agent.feature", "Feature", "any", AgentFeature, False, icon="flag")

"""Records and kinds of AG-UI capabilities."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ...kinds import Kind, PropertyRule
from ...records import CapabilityRecord


@dataclass(frozen=True, kw_only=True)
class AGUITool(CapabilityRecord):
    """A tool that the agent itself runs. Its parameters are a JSON schema or None."""

    kind: ClassVar[str] = "agui.tool"
    role: ClassVar[str] = "tool"

    parameters: Any = None
    metadata: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class AGUISubagent(CapabilityRecord):
    kind: ClassVar[str] = "agui.subagent"
    role: ClassVar[str] = "subagent"


KINDS = (
    Kind(
        "agui.tool",
        "AG-UI Tool",
        "agui",
        AGUITool,
        discoverable=True,
        icon="wrench",
        is_removal_breaking=True,
        rules={"parameters": PropertyRule.INPUT_SCHEMA},
    ),
    Kind(
        "agui.subagent",
        "AG-UI Sub-agent",
        "agui",
        AGUISubagent,
        discoverable=True,
        icon="agents",
    ),
)

"""Features: what an agent declares beside its capabilities, whatever its protocol.

Their names and shapes are those of AG-UI, by category.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from .kinds import Kind
from .records import CapabilityRecord

# A name taken apart: ("multimodal", "input", "image").
Steps = tuple[str, ...]

# The greatest whole number that every JSON reader keeps exact.
COUNT_LIMIT = 2**53 - 1


@dataclass(frozen=True, kw_only=True)
class AgentFeature(CapabilityRecord):
    """A flag, number, list or text, named `category.flag`: `transport.streaming`."""

    kind: ClassVar[str] = "agent.feature"
    names_its_agent: ClassVar[bool] = False

    value: Any = None


FEATURE = Kind("agent.feature", "Feature", "any", AgentFeature, False, icon="flag")


class Shape(StrEnum):
    """What a member may hold; the value completes the sentence "should be"."""

    FLAG = "true or false"
    COUNT = "a whole number from 0 to 2^53-1"
    TEXTS = "a list of strings"
    TEXT = "a string"
    OBJECT = "an object"


@dataclass(frozen=True, slots=True)
class Feature:
    name: str
    label: str
    shape: Shape = Shape.FLAG

    @property
    def steps(self) -> Steps:
        return tuple(self.name.split("."))


@dataclass(frozen=True, slots=True)
class Category:
    name: str
    label: str
    features: tuple[Feature, ...]


IDENTITY = Category(
    "identity",
    "Identity",
    (
        Feature("identity.name", "Name", Shape.TEXT),
        Feature("identity.type", "Framework", Shape.TEXT),
        Feature("identity.description", "Description", Shape.TEXT),
        Feature("identity.version", "Version", Shape.TEXT),
        Feature("identity.provider", "Provider", Shape.TEXT),
        Feature("identity.documentationUrl", "Documentation", Shape.TEXT),
        Feature("identity.metadata", "Metadata", Shape.OBJECT),
    ),
)
TRANSPORT = Category(
    "transport",
    "Transport",
    (
        Feature("transport.streaming", "Streaming"),
        Feature("transport.websocket", "WebSocket"),
        Feature("transport.httpBinary", "Binary over HTTP"),
        Feature("transport.pushNotifications", "Push notifications"),
        Feature("transport.resumable", "Resumable streams"),
    ),
)
TOOLS = Category(
    "tools",
    "Tools",
    (
        Feature("tools.supported", "Calls tools"),
        Feature("tools.parallelCalls", "Parallel calls"),
        Feature("tools.clientProvided", "Tools of the client's"),
    ),
)
OUTPUT = Category(
    "output",
    "Output",
    (
        Feature("output.structuredOutput", "Structured output"),
        Feature("output.supportedMimeTypes", "MIME types", Shape.TEXTS),
    ),
)
STATE = Category(
    "state",
    "State",
    (
        Feature("state.snapshots", "Snapshots"),
        Feature("state.deltas", "Deltas"),
        Feature("state.memory", "Memory"),
        Feature("state.persistentState", "Persistent state"),
    ),
)
MULTI_AGENT = Category(
    "multiAgent",
    "Multiple agents",
    (
        Feature("multiAgent.supported", "Works with other agents"),
        Feature("multiAgent.delegation", "Delegation"),
        Feature("multiAgent.handoffs", "Handoffs"),
    ),
)
REASONING = Category(
    "reasoning",
    "Reasoning",
    (
        Feature("reasoning.supported", "Reasons"),
        Feature("reasoning.streaming", "Streams its reasoning"),
        Feature("reasoning.encrypted", "Encrypted reasoning"),
    ),
)
MULTIMODAL = Category(
    "multimodal",
    "Media",
    (
        Feature("multimodal.input.image", "Takes images"),
        Feature("multimodal.input.audio", "Takes audio"),
        Feature("multimodal.input.video", "Takes video"),
        Feature("multimodal.input.pdf", "Takes PDF"),
        Feature("multimodal.input.file", "Takes files"),
        Feature("multimodal.output.image", "Makes images"),
        Feature("multimodal.output.audio", "Makes audio"),
    ),
)
EXECUTION = Category(
    "execution",
    "Execution",
    (
        Feature("execution.codeExecution", "Runs code"),
        Feature("execution.sandboxed", "Sandboxed"),
        Feature("execution.maxIterations", "Most iterations", Shape.COUNT),
        Feature("execution.maxExecutionTime", "Longest run (ms)", Shape.COUNT),
    ),
)
HUMAN_IN_THE_LOOP = Category(
    "humanInTheLoop",
    "Human in the loop",
    (
        Feature("humanInTheLoop.supported", "Involves people"),
        Feature("humanInTheLoop.approvals", "Approvals"),
        Feature("humanInTheLoop.interventions", "Interventions"),
        Feature("humanInTheLoop.feedback", "Feedback"),
        Feature("humanInTheLoop.interrupts", "Interrupts"),
        Feature("humanInTheLoop.approveWithEdits", "Approval with edits"),
    ),
)

FEATURES: tuple[Category, ...] = (
    IDENTITY,
    TRANSPORT,
    TOOLS,
    OUTPUT,
    STATE,
    MULTI_AGENT,
    REASONING,
    MULTIMODAL,
    EXECUTION,
    HUMAN_IN_THE_LOOP,
)
BY_STEPS = {each.steps: each for category in FEATURES for each in category.features}
# What the catalog keeps of every agent anyway.
CATALOGUED = ("name", "description", "version", "provider")
DECLARED = tuple(
    each
    for each in BY_STEPS.values()
    if each.steps not in {("identity", key) for key in CATALOGUED}
)
# What is simply there or not, by name, with its label.
FLAGS = {each.name: each.label for each in DECLARED if each.shape is Shape.FLAG}
# What no standard names, but every declaration may have.
CUSTOM = "custom"
CATEGORIES = (*(category.name for category in FEATURES), CUSTOM)
# What is counted instead of declared, by the role of a capability.
COUNTED = {"tool": "tools.items", "subagent": "multiAgent.subagents"}
LABELS = {each.name: each.label for each in DECLARED if each.shape is not Shape.OBJECT}
LABELS |= {"tools.items": "Tools", "multiAgent.subagents": "Sub-agents"}
# Below these an agent names things as it likes.
FREE = (f"{CUSTOM}.", "identity.metadata.")


def may_be_declared(name: str) -> bool:
    """Whether any agent could have a feature of this name, in 1.0's spelling."""
    category, _, rest = name.partition(".")
    if category in CATEGORIES and not name.startswith(FREE):
        return name in LABELS
    return bool(rest)


def sound(shape: Shape, value: Any) -> Any:
    """The value if it is of this shape, None if not; of a list, what is text."""
    match shape, value:
        case (Shape.FLAG, bool()) | (Shape.TEXT, str()) | (Shape.OBJECT, dict()):
            return value
        case Shape.TEXTS, list():
            return [each for each in value if isinstance(each, str)]
        case Shape.COUNT, int() | float():
            return sound_count(value)
    return None


def sound_count(value: float) -> int | None:
    """A whole number, though it be written as 5.0; true and false are none."""
    if isinstance(value, bool) or not 0 <= value <= COUNT_LIMIT:
        return None
    return int(value) if value == int(value) else None

"""Features that agents declare in addition to their capabilities.

Names, categories and types are those of AG-UI 1.0; other protocols map theirs to them.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from .kinds import Kind, PropertyRule
from .records import CapabilityRecord

# A feature name split at the dots: ("multimodal", "input", "image").
KeyPath = tuple[str, ...]

# The largest integer that every JSON reader represents exactly.
MAX_SAFE_INTEGER = 2**53 - 1


@dataclass(frozen=True, kw_only=True)
class AgentFeature(CapabilityRecord):
    """A declared feature; its name joins the members that lead to its value.

    For example `transport.streaming` or `multimodal.input.image`.
    """

    kind: ClassVar[str] = "agent.feature"
    can_name_agent: ClassVar[bool] = False

    value: Any = None


FEATURE_KIND = Kind(
    slug="agent.feature",
    label="Feature",
    protocol="any",
    record_class=AgentFeature,
    discoverable=False,
    icon="flag",
    rules={"value": PropertyRule.FEATURE},
    rules_by_name={"security.requirements": PropertyRule.SECURITY_REQUIREMENTS},
)


class Shape(StrEnum):
    """The type of a feature's value; completes the sentence "should be ..."."""

    FLAG = "true or false"
    COUNT = "a whole number from 0 to 2^53-1"
    NUMBER = "a number from 0 to 2^53-1"
    STRING_LIST = "a list of strings"
    STRING = "a string"
    OBJECT = "an object"


@dataclass(frozen=True, slots=True)
class Feature:
    name: str
    label: str
    shape: Shape = Shape.FLAG

    @property
    def key_path(self) -> KeyPath:
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
        Feature("identity.name", "Name", Shape.STRING),
        Feature("identity.type", "Framework", Shape.STRING),
        Feature("identity.description", "Description", Shape.STRING),
        Feature("identity.version", "Version", Shape.STRING),
        Feature("identity.provider", "Provider", Shape.STRING),
        Feature("identity.documentationUrl", "Documentation", Shape.STRING),
        Feature("identity.metadata", "Metadata", Shape.OBJECT),
    ),
)
TRANSPORT = Category(
    "transport",
    "Transport",
    (
        Feature("transport.streaming", "Streaming"),
        Feature("transport.websocket", "WebSocket"),
        Feature("transport.httpBinary", "Binary HTTP transport"),
        Feature("transport.pushNotifications", "Push notifications"),
        Feature("transport.resumable", "Resumable streams"),
    ),
)
TOOLS = Category(
    "tools",
    "Tools",
    (
        Feature("tools.supported", "Tool calling"),
        Feature("tools.parallelCalls", "Parallel tool calls"),
        Feature("tools.clientProvided", "Client-provided tools"),
    ),
)
OUTPUT = Category(
    "output",
    "Output",
    (
        Feature("output.structuredOutput", "Structured output"),
        Feature("output.supportedMimeTypes", "Output MIME types", Shape.STRING_LIST),
    ),
)
STATE = Category(
    "state",
    "State",
    (
        Feature("state.snapshots", "State snapshots"),
        Feature("state.deltas", "State deltas"),
        Feature("state.memory", "Memory"),
        Feature("state.persistentState", "Persistent state"),
    ),
)
MULTI_AGENT = Category(
    "multiAgent",
    "Multi-agent",
    (
        Feature("multiAgent.supported", "Multi-agent collaboration"),
        Feature("multiAgent.delegation", "Delegation"),
        Feature("multiAgent.handoffs", "Handoffs"),
    ),
)
REASONING = Category(
    "reasoning",
    "Reasoning",
    (
        Feature("reasoning.supported", "Reasoning"),
        Feature("reasoning.streaming", "Streamed reasoning"),
        Feature("reasoning.encrypted", "Encrypted reasoning"),
    ),
)
MULTIMODAL = Category(
    "multimodal",
    "Multimodal",
    (
        Feature("multimodal.input.image", "Image input"),
        Feature("multimodal.input.audio", "Audio input"),
        Feature("multimodal.input.video", "Video input"),
        Feature("multimodal.input.pdf", "PDF input"),
        Feature("multimodal.input.file", "File input"),
        Feature("multimodal.output.image", "Image output"),
        Feature("multimodal.output.audio", "Audio output"),
    ),
)
EXECUTION = Category(
    "execution",
    "Execution",
    (
        Feature("execution.codeExecution", "Code execution"),
        Feature("execution.sandboxed", "Sandboxed execution"),
        Feature("execution.maxIterations", "Maximum iterations", Shape.COUNT),
        Feature(
            "execution.maxExecutionTime", "Maximum execution time (ms)", Shape.NUMBER
        ),
    ),
)
HUMAN_IN_THE_LOOP = Category(
    "humanInTheLoop",
    "Human in the loop",
    (
        Feature("humanInTheLoop.supported", "Human in the loop"),
        Feature("humanInTheLoop.approvals", "Approvals"),
        Feature("humanInTheLoop.interventions", "Interventions"),
        Feature("humanInTheLoop.feedback", "Feedback"),
        Feature("humanInTheLoop.interrupts", "Interrupts"),
        Feature("humanInTheLoop.approveWithEdits", "Approval with edits"),
    ),
)

FEATURE_CATEGORIES: tuple[Category, ...] = (
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
FEATURES_BY_KEY_PATH = {
    feature.key_path: feature
    for category in FEATURE_CATEGORIES
    for feature in category.features
}
# Members of `identity` that every record has as a field of its own.
IDENTITY_FIELDS = ("name", "description", "version", "provider")
# Features that are stored as capabilities of their own.
STORED_FEATURES = tuple(
    feature
    for feature in FEATURES_BY_KEY_PATH.values()
    if feature.key_path not in {("identity", field) for field in IDENTITY_FIELDS}
)
FLAG_LABELS = {
    feature.name: feature.label
    for feature in STORED_FEATURES
    if feature.shape is Shape.FLAG
}
# The category for features that AG-UI does not define.
CUSTOM_CATEGORY = "custom"
CATEGORY_NAMES = (*(category.name for category in FEATURE_CATEGORIES), CUSTOM_CATEGORY)
# Features whose value is the number of capabilities with a role, by role.
COUNT_FEATURES_BY_ROLE = {"tool": "tools.items", "subagent": "multiAgent.subagents"}
FEATURE_LABELS = {
    feature.name: feature.label
    for feature in STORED_FEATURES
    if feature.shape is not Shape.OBJECT
}
FEATURE_LABELS |= {"tools.items": "Tools", "multiAgent.subagents": "Sub-agents"}
# Names with these prefixes are defined by agents, not by AG-UI.
AGENT_DEFINED_PREFIXES = (f"{CUSTOM_CATEGORY}.", "identity.metadata.")


def is_agent_defined(name: str) -> bool:
    """Return whether the agents that declare the feature define its name."""
    return name.startswith(AGENT_DEFINED_PREFIXES)


def is_valid_feature_name(name: str) -> bool:
    """Return whether a feature can have this name, in the spelling of AG-UI 1.0."""
    category, _, rest = name.partition(".")
    if category in CATEGORY_NAMES and not is_agent_defined(name):
        return name in FEATURE_LABELS
    return bool(rest)


def clean_value(shape: Shape, value: Any) -> Any:
    """Return the value if it has this shape, else None.

    Items of a list that are not strings are left out.
    """
    match shape, value:
        case (Shape.FLAG, bool()) | (Shape.STRING, str()) | (Shape.OBJECT, dict()):
            return value
        case Shape.STRING_LIST, list():
            return [item for item in value if isinstance(item, str)]
        case Shape.COUNT, int() | float():
            number = clean_number(value)
            return number if isinstance(number, int) else None
        case Shape.NUMBER, int() | float():
            return clean_number(value)
    return None


def clean_number(value: float) -> float | None:
    """Return the value, a whole one as an integer, or None if it is out of range."""
    if isinstance(value, bool) or not 0 <= value <= MAX_SAFE_INTEGER:
        return None
    return int(value) if value == int(value) else value

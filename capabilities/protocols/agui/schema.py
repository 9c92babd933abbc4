"""AgentCapabilities as a JSON schema, for those who generate clients from one."""

from typing import Any

from ...features import CUSTOM, FEATURES, Shape, Steps
from ...problems import Document
from ...spellings import FLAT, LISTS, SEED_SUBAGENTS

TYPES: dict[Shape, Document] = {
    Shape.FLAG: {"type": "boolean"},
    Shape.COUNT: {"type": "integer", "minimum": 0},
    Shape.TEXTS: {"type": "array", "items": {"type": "string"}},
    Shape.TEXT: {"type": "string"},
    Shape.OBJECT: {"type": "object", "additionalProperties": True},
}
NAMED = {"name": {"type": "string"}, "description": {"type": "string"}}
ITEM: dict[Steps, Document] = {
    LISTS[0]: {**NAMED, "parameters": {}, "metadata": TYPES[Shape.OBJECT]},
    LISTS[1]: NAMED,
}


def capabilities_schema() -> Document:
    """Every member may be missing: what is not declared is unknown, not false."""
    root = new_object("What the agent supports, in AG-UI's words.")
    for category in FEATURES:
        for feature in category.features:
            put(root, feature.steps, TYPES[feature.shape] | {"title": feature.label})
    for steps, members in ITEM.items():
        item = {"type": "object", "properties": members, "required": ["name"]}
        put(root, steps, {"type": "array", "items": item})
    subagents = root["properties"]["multiAgent"]["properties"]["subagents"]
    put(root, ("multiAgent", SEED_SUBAGENTS), subagents)
    for flat in FLAT:
        put(root, ("multimodal", flat), TYPES[Shape.FLAG])
    put(root, (CUSTOM,), TYPES[Shape.OBJECT])
    return root


def new_object(description: str = "") -> Document:
    told = {"description": description} if description else {}
    return {"type": "object", **told, "properties": {}, "additionalProperties": True}


def put(schema: Document, steps: Steps, member: Any) -> None:
    *groups, last = steps
    for group in groups:
        schema = schema["properties"].setdefault(group, new_object())
    schema["properties"][last] = member

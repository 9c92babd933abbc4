"""A JSON schema of AgentCapabilities, for the OpenAPI description."""

from typing import Any

from ...features import CUSTOM_CATEGORY, FEATURE_CATEGORIES, KeyPath, Shape
from ...problems import Document
from ...spellings import FLAT_MULTIMODAL_FLAGS, LEGACY_SUBAGENTS, LIST_KEY_PATHS

SCHEMA_BY_SHAPE: dict[Shape, Document] = {
    Shape.FLAG: {"type": "boolean"},
    Shape.COUNT: {"type": "integer", "minimum": 0},
    # AgentLens serves whole numbers only, as AG-UI 1.0 requires.
    Shape.NUMBER: {"type": "integer", "minimum": 0},
    Shape.STRING_LIST: {"type": "array", "items": {"type": "string"}},
    Shape.STRING: {"type": "string"},
    Shape.OBJECT: {"type": "object", "additionalProperties": True},
}
SUBAGENT_PROPERTIES: Document = {
    "name": {"type": "string"},
    "description": {"type": "string"},
}
TOOL_PROPERTIES: Document = {
    **SUBAGENT_PROPERTIES,
    "parameters": {},
    "metadata": SCHEMA_BY_SHAPE[Shape.OBJECT],
}
ITEM_PROPERTIES: dict[KeyPath, Document] = dict(
    zip(LIST_KEY_PATHS, (TOOL_PROPERTIES, SUBAGENT_PROPERTIES), strict=True)
)


def build_capabilities_schema() -> Document:
    """Return the schema. No member is required: an absent member is unknown."""
    root = build_object_schema("What the agent supports, as AG-UI AgentCapabilities.")
    for category in FEATURE_CATEGORIES:
        for feature in category.features:
            schema = SCHEMA_BY_SHAPE[feature.shape] | {"title": feature.label}
            add_member(root, feature.key_path, schema)
    for key_path, properties in ITEM_PROPERTIES.items():
        item = {"type": "object", "properties": properties, "required": ["name"]}
        add_member(root, key_path, {"type": "array", "items": item})
    subagents = root["properties"]["multiAgent"]["properties"]["subagents"]
    add_member(root, ("multiAgent", LEGACY_SUBAGENTS), subagents)
    for flag in FLAT_MULTIMODAL_FLAGS:
        add_member(root, ("multimodal", flag), SCHEMA_BY_SHAPE[Shape.FLAG])
    add_member(root, (CUSTOM_CATEGORY,), SCHEMA_BY_SHAPE[Shape.OBJECT])
    return root


def build_object_schema(description: str = "") -> Document:
    optional = {"description": description} if description else {}
    return {
        "type": "object",
        **optional,
        "properties": {},
        "additionalProperties": True,
    }


def add_member(schema: Document, key_path: KeyPath, member_schema: Any) -> None:
    """Add the schema of a member, and of the objects around it."""
    *groups, last = key_path
    for group in groups:
        schema = schema["properties"].setdefault(group, build_object_schema())
    schema["properties"][last] = member_schema

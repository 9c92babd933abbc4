"""AgentCapabilities of any agent, derived from its own definition."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ...features import (
    FEATURES_BY_KEY_PATH,
    STORED_FEATURES,
    AgentFeature,
    KeyPath,
    Shape,
    clean_value,
)
from ...problems import Document, Problems
from ...records import CapabilityRecord
from ...spellings import FLAT_MULTIMODAL_FLAGS, LEGACY_SUBAGENTS, SUBAGENTS
from .declarations import read_declaration

NUMBER_KEY_PATHS = tuple(
    key_path
    for key_path, feature in FEATURES_BY_KEY_PATH.items()
    if feature.shape is Shape.NUMBER
)
FEATURES_BY_NAME = {feature.name: feature for feature in STORED_FEATURES}


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilitiesSource:
    """What AgentCapabilities are derived from.

    For an AG-UI agent this is `declaration`, its own document; the other fields are
    for agents of other protocols.
    """

    name: str = ""
    description: str = ""
    version: str = ""
    provider: str = ""
    capabilities: Iterable[CapabilityRecord] = ()
    declaration: Document | None = None


def build_agent_capabilities(source: CapabilitiesSource) -> Document:
    """Return AgentCapabilities in both spellings, 1.0 and the one before it.

    Members that the source does not mention are absent.
    """
    if source.declaration is None:
        document = derive_capabilities(source)
    else:
        document = read_declaration(source.declaration, Problems()).document
    return with_legacy_spellings(with_whole_numbers(document))


def derive_capabilities(source: CapabilitiesSource) -> Document:
    """Return AgentCapabilities for an agent of another protocol."""
    records = list(source.capabilities)
    capabilities: Document = {}
    for key_path, value in (
        *iter_identity_members(source),
        *iter_feature_members(records),
    ):
        set_member(capabilities, key_path, value)
    if tools := [to_tool(record) for record in records if record.role == "tool"]:
        set_member(capabilities, ("tools", "items"), tools)
    return capabilities


def set_member(document: Document, key_path: KeyPath, value: Any) -> None:
    """Set a nested member, and create the objects around it."""
    *groups, last = key_path
    for group in groups:
        document = document.setdefault(group, {})
    document[last] = value


def iter_identity_members(source: CapabilitiesSource) -> Iterator[tuple[KeyPath, str]]:
    identity = {
        "name": source.name,
        "description": source.description,
        "version": source.version,
        "provider": source.provider,
    }
    return ((("identity", key), text) for key, text in identity.items() if text)


def iter_feature_members(
    records: list[CapabilityRecord],
) -> Iterator[tuple[KeyPath, Any]]:
    """Yield the features that AG-UI also defines, except values of the wrong type."""
    for record in records:
        if isinstance(record, AgentFeature) and record.name in FEATURES_BY_NAME:
            feature = FEATURES_BY_NAME[record.name]
            value = clean_value(feature.shape, record.value)
            if value is not None:
                yield feature.key_path, value


def to_tool(record: CapabilityRecord) -> Document:
    schema = getattr(record, "parameters", None)
    parameters = {} if schema is None else {"parameters": schema}
    return {"name": record.name, "description": record.description, **parameters}


def with_whole_numbers(document: Document) -> Document:
    """Return a copy with fractions rounded: clients of AG-UI 1.0 reject them."""
    result = dict(document)
    for category, key in NUMBER_KEY_PATHS:
        members = result.get(category, {})
        if key in members:
            result[category] = members | {key: round(members[key])}
    return result


def with_legacy_spellings(document: Document) -> Document:
    """Return a copy that also has the names before AG-UI 1.0, for older clients."""
    result = dict(document)
    if "multimodal" in document:
        multimodal = document["multimodal"]
        result["multimodal"] = multimodal | build_flat_flags(multimodal)
    if SUBAGENTS in document.get("multiAgent", {}):
        subagents = document["multiAgent"][SUBAGENTS]
        result["multiAgent"] = document["multiAgent"] | {LEGACY_SUBAGENTS: subagents}
    return result


def build_flat_flags(multimodal: Document) -> Document:
    """Return the flags of `input` and `output` under their names before 1.0."""
    return {
        flag: multimodal[direction][medium]
        for flag, (direction, medium) in FLAT_MULTIMODAL_FLAGS.items()
        if medium in multimodal.get(direction, {})
    }

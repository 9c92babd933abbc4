"""Any agent's AgentCapabilities, from what its own definition really says."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ...features import DECLARED, AgentFeature, Steps, sound
from ...problems import Document, Problems
from ...records import CapabilityRecord
from ...spellings import FLAT, SEED_SUBAGENTS, SUBAGENTS
from .declarations import read_declaration

BY_NAME = {feature.name: feature for feature in DECLARED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of an entry; `native` is the definition of an AG-UI agent."""

    name: str = ""
    description: str = ""
    version: str = ""
    provider: str = ""
    capabilities: Iterable[CapabilityRecord] = ()
    native: Document | None = None


def take_snapshot(facts: Facts) -> Document:
    """AgentCapabilities in 1.0's spelling and the seed's; unsaid is left unsaid."""
    if facts.native is not None:
        return with_seed_spellings(read_declaration(facts.native, Problems()).document)
    return with_seed_spellings(derived(facts))


def derived(facts: Facts) -> Document:
    """What another protocol's definition says, in AG-UI's words."""
    offered = list(facts.capabilities)
    told: Document = {}
    for steps, value in (*read_identity(facts), *read_features(offered)):
        put(told, steps, value)
    if tools := [read_tool(each) for each in offered if each.role == "tool"]:
        put(told, ("tools", "items"), tools)
    return told


def put(told: Document, steps: Steps, value: Any) -> None:
    *groups, last = steps
    for group in groups:
        told = told.setdefault(group, {})
    told[last] = value


def read_identity(facts: Facts) -> Iterator[tuple[Steps, str]]:
    known = {
        "name": facts.name,
        "description": facts.description,
        "version": facts.version,
        "provider": facts.provider,
    }
    return ((("identity", key), text) for key, text in known.items() if text)


def read_features(offered: list[CapabilityRecord]) -> Iterator[tuple[Steps, Any]]:
    """The features that AG-UI has a name for too, as far as they are of its type."""
    for each in offered:
        if isinstance(each, AgentFeature) and each.name in BY_NAME:
            feature = BY_NAME[each.name]
            value = sound(feature.shape, each.value)
            if value is not None:
                yield feature.steps, value


def read_tool(tool: CapabilityRecord) -> Document:
    schema = getattr(tool, "parameters", None)
    parameters = {} if schema is None else {"parameters": schema}
    return {"name": tool.name, "description": tool.description, **parameters}


def with_seed_spellings(told: Document) -> Document:
    """The same with the names of before 1.0 beside today's, for older clients."""
    both = dict(told)
    if "multimodal" in told:
        both["multimodal"] = told["multimodal"] | flat_flags(told["multimodal"])
    if SUBAGENTS in told.get("multiAgent", {}):
        subagents = told["multiAgent"][SUBAGENTS]
        both["multiAgent"] = told["multiAgent"] | {SEED_SUBAGENTS: subagents}
    return both


def flat_flags(multimodal: Document) -> Document:
    return {
        flat: multimodal[way][medium]
        for flat, (way, medium) in FLAT.items()
        if medium in multimodal.get(way, {})
    }

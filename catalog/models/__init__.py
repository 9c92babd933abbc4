from .agent_type import AgentType, agent_key
from .capability import Capability, capability_count
from .catalog_entry import CatalogEntry, Source, Status
from .definition_change import DefinitionChange
from .entry_text import EntryText
from .provider import Provider

__all__ = [
    "AgentType",
    "Capability",
    "CatalogEntry",
    "DefinitionChange",
    "EntryText",
    "Provider",
    "Source",
    "Status",
    "agent_key",
    "capability_count",
]

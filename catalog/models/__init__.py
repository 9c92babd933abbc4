from .agent_type import AgentType, agent_key
from .capability import Capability, capability_count
from .catalog_entry import REACHABLE, CatalogEntry, Source, Status
from .definition_change import DefinitionChange
from .entry_text import EntryText
from .provider import Provider
from .search_row import SearchRow

__all__ = [
    "REACHABLE",
    "AgentType",
    "Capability",
    "CatalogEntry",
    "DefinitionChange",
    "EntryText",
    "Provider",
    "SearchRow",
    "Source",
    "Status",
    "agent_key",
    "capability_count",
]

from .agent_type import AgentType, agent_key
from .capability import Capability, CapabilityQuerySet
from .capability_key import CapabilityKeyConverter, split_key
from .catalog_entry import REACHABLE, CatalogEntry, CatalogEntryQuerySet, Source, Status
from .definition_change import DefinitionChange
from .entry_text import EntryText
from .prepared_statements import prepared_cursor
from .probe_history import Counted, HealthHour, HourCount, ProbeResult
from .provider import Provider
from .search_row import SearchRow

__all__ = [
    "REACHABLE",
    "AgentType",
    "Capability",
    "CapabilityKeyConverter",
    "CapabilityQuerySet",
    "CatalogEntry",
    "CatalogEntryQuerySet",
    "Counted",
    "DefinitionChange",
    "EntryText",
    "HealthHour",
    "HourCount",
    "ProbeResult",
    "Provider",
    "SearchRow",
    "Source",
    "Status",
    "agent_key",
    "prepared_cursor",
    "split_key",
]

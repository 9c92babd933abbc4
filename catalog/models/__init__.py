from .agent_type import AgentType, AgentTypeQuerySet, compute_agent_key
from .capability import Capability, CapabilityQuerySet
from .capability_key import CapabilityKeyConverter, split_key
from .catalog_entry import (
    REACHABLE_STATUSES,
    CatalogEntry,
    CatalogEntryQuerySet,
    Source,
    Status,
)
from .definition_change import DefinitionChange, is_breaking_removal
from .entry_text import EntryText
from .prepared_statements import prepared_cursor
from .probe_history import HealthHour, HourlyCount, ProbeCountMixin, ProbeResult
from .provider import Provider
from .search_row import SearchRow

__all__ = [
    "REACHABLE_STATUSES",
    "AgentType",
    "AgentTypeQuerySet",
    "Capability",
    "CapabilityKeyConverter",
    "CapabilityQuerySet",
    "CatalogEntry",
    "CatalogEntryQuerySet",
    "DefinitionChange",
    "EntryText",
    "HealthHour",
    "HourlyCount",
    "ProbeCountMixin",
    "ProbeResult",
    "Provider",
    "SearchRow",
    "Source",
    "Status",
    "compute_agent_key",
    "is_breaking_removal",
    "prepared_cursor",
    "split_key",
]

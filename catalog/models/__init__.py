from .agent_type import AgentType, agent_key
from .capability import Capability, capability_count
from .catalog_entry import REACHABLE, CatalogEntry, Source, Status
from .definition_change import DefinitionChange
from .entry_text import EntryText
from .probe_history import Counted, HealthHour, HourCount, ProbeResult
from .provider import Provider
from .search_row import SearchRow
from .seen_envelope import SeenEnvelope

__all__ = [
    "REACHABLE",
    "AgentType",
    "Capability",
    "CatalogEntry",
    "Counted",
    "DefinitionChange",
    "EntryText",
    "HealthHour",
    "HourCount",
    "ProbeResult",
    "Provider",
    "SearchRow",
    "SeenEnvelope",
    "Source",
    "Status",
    "agent_key",
    "capability_count",
]

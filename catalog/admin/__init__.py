"""Admin pages of the catalog."""

from .agent_types import AgentTypeAdmin
from .entries import CatalogEntryAdmin
from .providers import ProviderAdmin

__all__ = ["AgentTypeAdmin", "CatalogEntryAdmin", "ProviderAdmin"]

"""The AG-UI protocol (https://docs.ag-ui.com): AgentCapabilities documents."""

from .agent_capabilities import CapabilitiesSource, build_agent_capabilities
from .parser import AGUIParser
from .schema import build_capabilities_schema

__all__ = [
    "AGUIParser",
    "CapabilitiesSource",
    "build_agent_capabilities",
    "build_capabilities_schema",
]

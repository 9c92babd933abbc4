"""The AG-UI protocol (https://docs.ag-ui.com): AgentCapabilities documents."""

from .parser import AGUIParser
from .schema import build_capabilities_schema
from .snapshot import SnapshotSource, take_snapshot

__all__ = ["AGUIParser", "SnapshotSource", "build_capabilities_schema", "take_snapshot"]

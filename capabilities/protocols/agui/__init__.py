"""The AG-UI protocol (https://docs.ag-ui.com): AgentCapabilities documents."""

from .parser import AGUIParser
from .schema import capabilities_schema
from .snapshot import SnapshotSource, take_snapshot

__all__ = ["AGUIParser", "SnapshotSource", "capabilities_schema", "take_snapshot"]

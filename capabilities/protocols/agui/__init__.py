"""AG-UI agents, by the capabilities they declare: https://docs.ag-ui.com."""

from .parser import AGUIParser
from .schema import capabilities_schema
from .snapshot import Facts, take_snapshot

__all__ = ["AGUIParser", "Facts", "capabilities_schema", "take_snapshot"]

"""Write agents to the catalog, from their definitions and from editors' changes."""

from .curation import curate
from .definition import Definition, ProbeTiming
from .identity import find_entry, is_same_agent, lock_agent
from .writer import (
    EntryChanged,
    IngestOutcome,
    IngestResult,
    ingest,
    preview_ingest,
    reread_capabilities,
)

__all__ = [
    "Definition",
    "EntryChanged",
    "IngestOutcome",
    "IngestResult",
    "ProbeTiming",
    "curate",
    "find_entry",
    "ingest",
    "is_same_agent",
    "lock_agent",
    "preview_ingest",
    "reread_capabilities",
]

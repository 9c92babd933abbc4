"""Write agents to the catalog, from their definitions and from editors' changes."""

from .curation import curate
from .definition import Definition, ProbeTiming
from .writer import (
    EntryChanged,
    IngestOutcome,
    IngestResult,
    ingest,
    lock_agent,
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
    "ingest",
    "lock_agent",
    "preview_ingest",
    "reread_capabilities",
]

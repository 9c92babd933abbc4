"""Write agents to the catalog, from their definitions and from editors' changes."""

from .curation import curate
from .definition import Definition, ProbeTiming
from .writer import (
    EntryChanged,
    IngestResult,
    Result,
    ingest,
    lock_agent,
    preview_ingest,
)

__all__ = [
    "Definition",
    "EntryChanged",
    "IngestResult",
    "ProbeTiming",
    "Result",
    "curate",
    "ingest",
    "lock_agent",
    "preview_ingest",
]

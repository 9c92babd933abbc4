"""Write agents to the catalog, from their definitions and from editors' changes."""

from .curation import curate
from .definition import Definition, ProbeTiming
from .identity import find_entry, is_same_agent, lock_agent
from .replacement import build_replaced_warnings, preview_replaced_name
from .stubs import AlreadyDefined, check_stub_is_needed
from .writer import (
    EntryChanged,
    IngestOutcome,
    IngestResult,
    ingest,
    preview_ingest,
    reread_capabilities,
)

__all__ = [
    "AlreadyDefined",
    "Definition",
    "EntryChanged",
    "IngestOutcome",
    "IngestResult",
    "ProbeTiming",
    "build_replaced_warnings",
    "check_stub_is_needed",
    "curate",
    "find_entry",
    "ingest",
    "is_same_agent",
    "lock_agent",
    "preview_ingest",
    "preview_replaced_name",
    "reread_capabilities",
]

"""Writing agents to the catalog: from definitions, and from what curators change."""

from .curation import curate
from .definition import Definition, Due
from .writer import Outcome, Outdated, Result, foreseen, ingest, wait_for_turn

__all__ = [
    "Definition",
    "Due",
    "Outcome",
    "Outdated",
    "Result",
    "curate",
    "foreseen",
    "ingest",
    "wait_for_turn",
]

"""Finding agents and capabilities by what they say: fold, index, ask."""

from .entries import in_category, matching
from .entry_writer import (
    save_entry,
    save_provider,
    save_seen,
    save_states,
    state_change,
)
from .fts import create_text_index
from .indexer import rebuild
from .normalize import QUERY_LIMIT, fold, terms
from .query import SORTS, Question, find, kind_counts

__all__ = [
    "QUERY_LIMIT",
    "SORTS",
    "Question",
    "create_text_index",
    "find",
    "fold",
    "in_category",
    "kind_counts",
    "matching",
    "rebuild",
    "save_entry",
    "save_provider",
    "save_seen",
    "save_states",
    "state_change",
    "terms",
]

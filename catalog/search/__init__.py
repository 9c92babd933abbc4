"""Finding agents and capabilities by what they say: fold, index, ask."""

from .entries import in_category, matching
from .fts import create_text_index
from .indexer import index, rebuild
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
    "index",
    "kind_counts",
    "matching",
    "rebuild",
    "terms",
]

"""Finding agents and capabilities by what they say: fold, index, ask."""

from .capabilities import SORTS, Question, find, kind_counts
from .entries import in_category, matching
from .folding import QUERY_LIMIT, SEPARATOR, fold, terms
from .indexing import index, rebuild
from .trigrams import create_text_index

__all__ = [
    "QUERY_LIMIT",
    "SEPARATOR",
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

"""Search for agents and capabilities, and the index that it reads."""

from .entries import filter_category, filter_matching
from .entry_writer import (
    build_state_changed,
    save_entry,
    save_provider,
    save_seen,
    save_states,
)
from .fts import create_text_index
from .indexer import rebuild_index
from .normalize import QUERY_LIMIT, fold, parse_terms
from .query import (
    NAME_SORT,
    SORTS,
    SearchPage,
    SearchQuery,
    count_agents,
    count_by_kind,
    get_sort_key,
    search_capabilities,
)

__all__ = [
    "NAME_SORT",
    "QUERY_LIMIT",
    "SORTS",
    "SearchPage",
    "SearchQuery",
    "build_state_changed",
    "count_agents",
    "count_by_kind",
    "create_text_index",
    "filter_category",
    "filter_matching",
    "fold",
    "get_sort_key",
    "parse_terms",
    "rebuild_index",
    "save_entry",
    "save_provider",
    "save_seen",
    "save_states",
    "search_capabilities",
]

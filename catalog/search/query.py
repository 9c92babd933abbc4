"""Capability search: one row per capability per reachable agent."""

import re
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import CharField, Count, Func, Q, QuerySet, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Cast, StrIndex
from django.db.models.lookups import GreaterThan

from capabilities.kinds import discoverable_kinds, kinds

from ..metrics import SEARCH_SECONDS
from ..models import SearchRow
from .normalize import fold, parse_terms, truncate_sort_key

NAME_SORT = "name_asc"
SORT_COLUMNS = {
    NAME_SORT: ("name", "kind", "entry_name", "entry_id", "capability_id"),
    "agentName_asc": ("entry_name", "entry_id", "name", "kind", "capability_id"),
}
SORTS = [(NAME_SORT, "Capability"), ("agentName_asc", "Agent")]
# The columns to read for the fields of an item.
ITEM_COLUMNS = {
    "kind": "kind",
    "name": "capability__name",
    "description": "capability__description",
    "properties": "capability__properties",
    "agent_id": "entry_id",
    "agent_name": "entry__display_name",
    "protocol": "entry__agent_type__protocol",
    "status": "entry__status",
    "spec_version": "entry__agent_type__spec_version",
    "provider_org": "entry__agent_type__provider__organization",
    "provider_url": "entry__agent_type__provider__url",
    "latency_ms": "entry__latency_ms",
}
# In the order in which the API returns them.
ITEM_FIELDS = (
    "kind",
    "name",
    "description",
    "tags",
    "input_modes",
    "output_modes",
    "agent_id",
    "agent_name",
    "protocol",
    "status",
    "spec_version",
    "provider_org",
    "provider_url",
    "health_state",
    "latency_ms",
)
# SQLite's index cannot find shorter terms.
TRIGRAM_LENGTH = 3
# PostgreSQL's index is slower than a scan for terms without three letters in a row.
INDEXABLE_TERM = re.compile(r"[^\W_]{3}")
# A result of at most this many rows is read completely and sorted in Python.
SMALL_RESULT_LIMIT = 1_000


@dataclass(frozen=True, slots=True)
class SearchQuery:
    q: str = ""
    kind: str = ""
    sort: str = NAME_SORT

    @property
    def kinds(self) -> list[str]:
        return [self.kind] if self.kind else discoverable_kinds()


@dataclass(frozen=True, slots=True)
class SearchPage:
    total: int
    items: list[dict[str, Any]]


class FilterWithoutIndex(Func):
    """A column to filter by, without an index on SQLite, where that is faster."""

    template = "%(expressions)s"

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="+%(expressions)s", **context)


class SortWithoutIndex(Func):
    """A column to sort by, without reading the rows in the order of an index."""

    template = "(%(expressions)s || '')"


@SEARCH_SECONDS.time()
def search_capabilities(query: SearchQuery, limit: int, offset: int = 0) -> SearchPage:
    """Return a page of the matching capabilities and their total number."""
    if parse_terms(query.q):
        columns = [get_sort_expression(name) for name in SORT_COLUMNS[query.sort]]
        matches = filter_rows(query).order_by().values_list(*columns)
        rows = list(matches[: SMALL_RESULT_LIMIT + 1])
        if len(rows) <= SMALL_RESULT_LIMIT:
            # Python's order of strings is that of the database: by code point.
            page_rows = sorted(rows)[offset : offset + limit]
            capability_ids = [UUID(row[-1]) for row in page_rows]
            return SearchPage(len(rows), fetch_items(capability_ids))
    total = filter_rows(query).count()
    capability_ids = fetch_page_ids(query, total, limit, offset)
    return SearchPage(total, fetch_items(capability_ids))


def get_sort_expression(name: str) -> str | Cast:
    """Return a column to sort by; IDs as text: the same order, but faster."""
    return Cast(name, CharField()) if name.endswith("_id") else name


def fetch_page_ids(
    query: SearchQuery, total: int, limit: int, offset: int
) -> list[UUID]:
    """Return the capability IDs of a page of a large result."""
    if offset >= total:
        return []
    first_column, *other_columns = SORT_COLUMNS[query.sort]
    if is_sorting_faster(query, total, offset + limit):
        rows = filter_rows(query).order_by(
            SortWithoutIndex(first_column), *other_columns
        )
    else:
        rows = filter_rows_in_order(query).order_by(first_column, *other_columns)
    # All these columns are in the index, so the rows before the offset are not read.
    capability_ids = rows.values_list("capability_id", flat=True)
    return list(capability_ids[offset : offset + limit])


def count_by_kind(q: str) -> dict[str, int]:
    """Return the number of matches of each discoverable kind, including zeros."""
    rows = filter_rows(SearchQuery(q)).order_by().values_list("kind")
    counts = dict(rows.annotate(Count("id")))
    return {kind: counts.get(kind, 0) for kind in discoverable_kinds()}


def count_agents(query: SearchQuery, kind: str, names: list[str]) -> dict[str, int]:
    """Return the number of matching agents for each of these capabilities of a kind.

    All names have the same sort key, so that they are counted with one query.
    """
    sort_key, _ = get_sort_key(names[0], kind)
    rows = filter_rows(replace(query, kind=kind)).filter(name=sort_key)
    # Names cannot be keywords: they may contain any character.
    filters = [Q(capability__name=name) for name in names]
    counts = rows.aggregate(
        **{f"count_{n}": Count("id", filter=q) for n, q in enumerate(filters)}
    )
    return {name: counts[f"count_{n}"] for n, name in enumerate(names)}


def get_sort_key(name: str, kind: str) -> tuple[str, str]:
    """Return the values by which capabilities are sorted first, by `NAME_SORT`."""
    return truncate_sort_key(fold(name)), kind


def is_sorting_faster(query: SearchQuery, total: int, row_count: int) -> bool:
    """Return whether sorting all matches is faster than reading rows in order.

    Reading in order stops after `row_count` matches, but also reads all rows that do
    not match and come before the last of them.
    """
    if not parse_terms(query.q):
        return False
    return total * total < row_count * filter_kinds(query).count()


def filter_kinds(query: SearchQuery) -> QuerySet[SearchRow]:
    return SearchRow.objects.filter(kind__in=query.kinds)


def filter_rows(query: SearchQuery) -> QuerySet[SearchRow]:
    """Return the rows that contain every term, found through the text index."""
    terms = parse_terms(query.q)
    if not terms:
        return filter_kinds(query)
    rows = SearchRow.objects.alias(unindexed_kind=FilterWithoutIndex("kind"))
    return filter_terms(rows.filter(unindexed_kind__in=query.kinds), terms, "id")


def filter_rows_in_order(query: SearchQuery) -> QuerySet[SearchRow]:
    """Return the rows that contain every term, to be read in the order of an index."""
    rows = SearchRow.objects.alias(
        unindexed_kind=FilterWithoutIndex("kind"), unindexed_id=FilterWithoutIndex("id")
    )
    if query.kind:
        rows = rows.filter(kind=query.kind)
    else:
        rows = rows.filter(unindexed_kind__in=query.kinds)
    return filter_terms(rows, parse_terms(query.q), "unindexed_id")


def filter_terms(
    rows: QuerySet[SearchRow], terms: list[str], id_column: str
) -> QuerySet[SearchRow]:
    """Keep rows with all terms, using the text index for the terms it supports.

    `id_column` is compared with the row IDs that SQLite's text index returns.
    """
    if connection.vendor == "sqlite":
        indexed = [term for term in terms if len(term) >= TRIGRAM_LENGTH]
        if indexed:
            rows = rows.filter(**{f"{id_column}__in": build_fts_subquery(indexed)})
    else:
        indexed = [term for term in terms if INDEXABLE_TERM.search(term)]
        for term in indexed:
            rows = rows.filter(text__contains=term)
    for term in terms:
        if term not in indexed:
            rows = rows.filter(GreaterThan(StrIndex("text", Value(term)), Value(0)))
    return rows


def build_fts_subquery(terms: list[str]) -> RawSQL:
    """Return a subquery for the IDs of SQLite's rows with all these terms.

    Each term is quoted, so that none of its characters is an operator of FTS5.
    """
    phrases = " AND ".join('"{}"'.format(term.replace('"', '""')) for term in terms)
    subquery = "SELECT rowid FROM search_fts WHERE search_fts MATCH %s"
    return RawSQL(subquery, [phrases])  # noqa: S611 - a constant


def fetch_items(capability_ids: list[UUID]) -> list[dict[str, Any]]:
    """Return the items for these capability IDs, in the same order."""
    rows = SearchRow.objects.filter(capability__in=capability_ids)
    values = rows.values_list("capability_id", *ITEM_COLUMNS.values())
    by_id = {row[0]: dict(zip(ITEM_COLUMNS, row[1:], strict=True)) for row in values}
    return [build_item(by_id[pk]) for pk in capability_ids if pk in by_id]


def build_item(row: dict[str, Any]) -> dict[str, Any]:
    """Return an item, which has the same fields for every kind."""
    properties = row["properties"]
    kind = kinds.get(row["kind"])
    list_properties = kind.list_properties if kind else ()
    for name in ("tags", "input_modes", "output_modes"):
        row[name] = properties.get(name) if name in list_properties else None
    row["agent_id"] = str(row["agent_id"])
    row["provider_url"] = row["provider_url"] or None
    row["health_state"] = row["status"]
    row["latency_ms"] = row["latency_ms"] or 0
    return {name: row[name] for name in ITEM_FIELDS}

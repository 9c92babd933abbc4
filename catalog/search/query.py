"""Which agent can do X: one row per capability per reachable agent."""

import re
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import CharField, Count, Func, QuerySet, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Cast, StrIndex
from django.db.models.lookups import GreaterThan

from capabilities.kinds import discoverable_kinds, kinds

from ..metrics import SEARCH_SECONDS
from ..models import SearchRow
from .normalize import parse_terms

ORDERS = {
    "name_asc": ("name", "kind", "entry_name", "entry_id", "capability_id"),
    "agentName_asc": ("entry_name", "entry_id", "name", "kind", "capability_id"),
}
SORTS = [("name_asc", "Capability"), ("agentName_asc", "Agent")]
SHOWN = {
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
# Seed 000's fifteen, in its order.
FIELDS = (
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
TRIGRAM = 3
# PostgreSQL's index helps only where three letters or digits follow one another.
INDEXED_RUN = re.compile(r"[^\W_]{3}")
# So few are all read, before anything cleverer is thought of.
FEW = 1_000


@dataclass(frozen=True, slots=True)
class SearchQuery:
    q: str = ""
    kind: str = ""
    sort: str = "name_asc"

    @property
    def kinds(self) -> list[str]:
        return [self.kind] if self.kind else discoverable_kinds()


@dataclass(frozen=True, slots=True)
class SearchPage:
    total: int
    items: list[dict[str, Any]]


class Unindexed(Func):
    """A column that SQLite, which guesses badly here, may not look up in an index."""

    template = "%(expressions)s"

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="+%(expressions)s", **context)


class Unordered(Func):
    """A text to sort by, for which no database may walk along an ordering index."""

    template = "(%(expressions)s || '')"


@SEARCH_SECONDS.time()
def search_capabilities(
    question: SearchQuery, limit: int, offset: int = 0
) -> SearchPage:
    """A page of what matches, in the order asked for, and how many there are."""
    if parse_terms(question.q):
        order = [sortable(name) for name in ORDERS[question.sort]]
        found = list(matching_rows(question).order_by().values_list(*order)[: FEW + 1])
        if len(found) <= FEW:
            # Read once, they are counted and sorted: byte order is Python's own.
            keys = [UUID(row[-1]) for row in sorted(found)[offset : offset + limit]]
            return SearchPage(len(found), shown(keys))
    total = matching_rows(question).count()
    return SearchPage(total, shown(window(question, total, limit, offset)))


def sortable(name: str) -> str | Cast:
    """A column to sort by; keys as text, which is quicker and in the same order."""
    return Cast(name, CharField()) if name.endswith("_id") else name


def window(question: SearchQuery, total: int, limit: int, offset: int) -> list[UUID]:
    """The keys of one page of many."""
    if offset >= total:
        return []
    first, *others = ORDERS[question.sort]
    if sorting_is_quicker(question, total, offset + limit):
        rows = matching_rows(question).order_by(Unordered(first), *others)
    else:
        rows = in_passing(question).order_by(first, *others)
    # All of it stands in the ordering indexes: no row is read to be passed over.
    keys = rows.values_list("capability_id", flat=True)
    return list(keys[offset : offset + limit])


def kind_counts(q: str) -> dict[str, int]:
    """How many match of each discoverable kind, of those too that have none."""
    rows = matching_rows(SearchQuery(q)).order_by().values_list("kind")
    counted = dict(rows.annotate(Count("id")))
    return {kind: counted.get(kind, 0) for kind in discoverable_kinds()}


def sorting_is_quicker(question: SearchQuery, total: int, wanted: int) -> bool:
    """Or whether a walk along the ordering index soon meets enough of so many."""
    if not parse_terms(question.q):
        return False
    return total * total < wanted * of_kinds(question).count()


def of_kinds(question: SearchQuery) -> QuerySet[SearchRow]:
    return SearchRow.objects.filter(kind__in=question.kinds)


def matching_rows(question: SearchQuery) -> QuerySet[SearchRow]:
    """Rows in whose text every term occurs, looked up by what they say."""
    words = parse_terms(question.q)
    if not words:
        return of_kinds(question)
    rows = SearchRow.objects.alias(its_kind=Unindexed("kind"))
    return containing(rows.filter(its_kind__in=question.kinds), words, "id")


def in_passing(question: SearchQuery) -> QuerySet[SearchRow]:
    """The same rows, each looked at as a walk along an ordering index passes it."""
    rows = SearchRow.objects.alias(its_kind=Unindexed("kind"), its_id=Unindexed("id"))
    if question.kind:
        rows = rows.filter(kind=question.kind)
    else:
        rows = rows.filter(its_kind__in=question.kinds)
    return containing(rows, parse_terms(question.q), "its_id")


def containing(
    rows: QuerySet[SearchRow], words: list[str], key: str
) -> QuerySet[SearchRow]:
    """Keep rows with all the words: from the text index, or reading where it cannot."""
    if connection.vendor == "sqlite":
        indexed = [word for word in words if len(word) >= TRIGRAM]
        if indexed:
            rows = rows.filter(**{f"{key}__in": text_index(indexed)})
    else:
        indexed = [word for word in words if INDEXED_RUN.search(word)]
        for word in indexed:
            rows = rows.filter(text__contains=word)
    for word in words:
        if word not in indexed:
            rows = rows.filter(GreaterThan(StrIndex("text", Value(word)), Value(0)))
    return rows


def text_index(words: list[str]) -> RawSQL:
    """Keys of SQLite's rows with all these words; in a phrase, all is literal."""
    phrases = " AND ".join('"{}"'.format(word.replace('"', '""')) for word in words)
    found = "SELECT rowid FROM search_fts WHERE search_fts MATCH %s"
    return RawSQL(found, [phrases])  # noqa: S611


def shown(keys: list[UUID]) -> list[dict[str, Any]]:
    """The rows of these capabilities, in this order, as the wire shows them."""
    rows = SearchRow.objects.filter(capability__in=keys)
    told = rows.values_list("capability_id", *SHOWN.values())
    by_key = {row[0]: dict(zip(SHOWN, row[1:], strict=True)) for row in told}
    return [instance(by_key[key]) for key in keys if key in by_key]


def instance(row: dict[str, Any]) -> dict[str, Any]:
    """One capability of one agent, with all the fields, whatever its kind."""
    properties = row["properties"]
    kind = kinds.get(row["kind"])
    listed = kind.list_properties if kind else ()
    for name in ("tags", "input_modes", "output_modes"):
        row[name] = properties.get(name) if name in listed else None
    row["agent_id"] = str(row["agent_id"])
    row["provider_url"] = row["provider_url"] or None
    row["health_state"] = row["status"]
    row["latency_ms"] = row["latency_ms"] or 0
    return {name: row[name] for name in FIELDS}

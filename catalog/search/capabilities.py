"""Which agent can do X: one row per capability per reachable agent."""

import re
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Count, QuerySet, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import StrIndex
from django.db.models.lookups import GreaterThan

from capabilities.kinds import discoverable_kinds, kinds

from ..models import SearchRow
from .folding import terms

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
TRIGRAM = 3
# PostgreSQL's index helps only where three letters or digits follow one another.
INDEXED_RUN = re.compile(r"\w{3}")


@dataclass(frozen=True, slots=True)
class Question:
    q: str = ""
    kind: str = ""
    sort: str = "name_asc"


@dataclass(frozen=True, slots=True)
class Page:
    total: int
    items: list[dict[str, Any]]


def find(question: Question, limit: int, offset: int = 0) -> Page:
    """A page of what matches, in the order asked for, and how many there are."""
    rows = matching(question)
    total = rows.count()
    ids = rows.order_by(*ORDERS[question.sort]).values_list("id", flat=True)
    page = list(ids[offset : offset + limit]) if offset < total else []
    return Page(total, shown(page))


def kind_counts(q: str) -> dict[str, int]:
    """How many match of each discoverable kind, of those too that have none."""
    rows = matching(Question(q)).order_by().values_list("kind")
    counted = dict(rows.annotate(Count("id")))
    return {kind: counted.get(kind, 0) for kind in discoverable_kinds()}


def matching(question: Question) -> QuerySet[SearchRow]:
    """Rows in whose text every term occurs."""
    asked = [question.kind] if question.kind else discoverable_kinds()
    rows = SearchRow.objects.filter(kind__in=asked)
    words = terms(question.q)
    if connection.vendor == "sqlite":
        return containing_sqlite(rows, words)
    for word in words:
        indexed = INDEXED_RUN.search(word)
        rows = rows.filter(text__contains=word) if indexed else scanning(rows, word)
    return rows


def containing_sqlite(
    rows: QuerySet[SearchRow], words: list[str]
) -> QuerySet[SearchRow]:
    long = [word for word in words if len(word) >= TRIGRAM]
    if long:
        phrases = " AND ".join('"{}"'.format(word.replace('"', '""')) for word in long)
        found = "SELECT rowid FROM search_fts WHERE search_fts MATCH %s"
        rows = rows.filter(id__in=RawSQL(found, [phrases]))  # noqa: S611
    for word in words:
        if len(word) < TRIGRAM:
            rows = scanning(rows, word)
    return rows


def scanning(rows: QuerySet[SearchRow], word: str) -> QuerySet[SearchRow]:
    return rows.filter(GreaterThan(StrIndex("text", Value(word)), Value(0)))


def shown(ids: list[int]) -> list[dict[str, Any]]:
    """The rows of these keys, in this order, as the wire shows them."""
    rows = SearchRow.objects.filter(id__in=ids).values_list("id", *SHOWN.values())
    by_id = {row[0]: dict(zip(SHOWN, row[1:], strict=True)) for row in rows}
    return [instance(by_id[key]) for key in ids if key in by_id]


def instance(row: dict[str, Any]) -> dict[str, Any]:
    """One capability of one agent: seed 000's fifteen fields, always all of them."""
    properties = row.pop("properties")
    kind = kinds.get(row["kind"])
    listed = kind.listed if kind else ()
    for name in ("tags", "input_modes", "output_modes"):
        row[name] = properties.get(name) if name in listed else None
    row["agent_id"] = str(row["agent_id"])
    row["provider_url"] = row["provider_url"] or None
    row["health_state"] = row["status"]
    row["latency_ms"] = row["latency_ms"] or 0
    return row

"""The same search without an index: a naive query, and a scan in plain Python."""

from typing import NamedTuple
from uuid import UUID

from django.db.models import Q

from capabilities.kinds import discoverable_kinds
from catalog.models import REACHABLE_STATUSES, Capability
from catalog.search import fold, parse_terms

from .queries import LIMIT, BenchQuery

COLUMNS = {
    "kind": "kind",
    "name": "name",
    "description": "description",
    "properties": "properties",
    "agent_id": "agent_type__entry__id",
    "agent_name": "agent_type__entry__display_name",
    "protocol": "agent_type__protocol",
    "status": "agent_type__entry__status",
    "spec_version": "agent_type__spec_version",
    "provider_org": "agent_type__provider__organization",
    "provider_url": "agent_type__provider__url",
    "latency_ms": "agent_type__entry__latency_ms",
}
ORDERS = {
    "name_asc": ("name", "agent_type__entry__display_name"),
    "agentName_asc": ("agent_type__entry__display_name", "name"),
}
LIST_FIELDS = ("tags", "input_modes", "output_modes")


def get_listed_capabilities():
    return Capability.objects.filter(
        kind__in=discoverable_kinds(), agent_type__entry__status__in=REACHABLE_STATUSES
    )


def run_naive_query(query: BenchQuery) -> tuple[int, list]:
    """Search three columns with LIKE: count the rows, then read a page of them."""
    rows = get_listed_capabilities()
    if query.kind:
        rows = rows.filter(kind=query.kind)
    for term in query.q.split():
        condition = Q(name__icontains=term) | Q(description__icontains=term)
        rows = rows.filter(condition | Q(properties__icontains=term))
    ordered = rows.order_by(*ORDERS[query.sort]).values(*COLUMNS.values())
    return rows.count(), list(ordered[query.offset : query.offset + LIMIT])


class ScanRow(NamedTuple):
    """The sort keys, the primary key and the searchable text of a capability."""

    name: str
    kind: str
    agent_name: str
    agent_id: str
    pk: UUID
    text: str


def get_agent_sort_key(row: ScanRow) -> tuple[str, str, str, str]:
    return row.agent_name, row.agent_id, row.name, row.kind


class Scan:
    """All listed capabilities in memory, sorted in each of the two orders."""

    def __init__(self) -> None:
        names = ("kind", "name", "description", "properties", "agent_name", "agent_id")
        columns = ("pk", *(COLUMNS[name] for name in names))
        rows = [
            build_row(values)
            for values in get_listed_capabilities().values_list(*columns).iterator()
        ]
        self.orders = {
            "name_asc": sorted(rows),
            "agentName_asc": sorted(rows, key=get_agent_sort_key),
        }

    def search(self, query: BenchQuery) -> dict:
        """Return the response that the endpoint must give."""
        kind, words = query.kind, parse_terms(query.q)
        keys = [
            row.pk
            for row in self.orders[query.sort]
            if (not kind or row.kind == kind)
            and all(word in row.text for word in words)
        ]
        return {
            "total": len(keys),
            "items": fetch_items(keys[query.offset : query.offset + LIMIT]),
        }


def build_row(values: tuple) -> ScanRow:
    pk, kind, name, description, properties, agent_name, agent_id = values
    texts = [name, description, properties.get("title") or ""]
    return ScanRow(
        name=fold(name),
        kind=kind,
        agent_name=fold(agent_name),
        agent_id=str(agent_id),
        pk=pk,
        text="\0".join(map(fold, [*texts, *properties.get("tags", [])])),
    )


def fetch_items(keys: list) -> list[dict]:
    rows = Capability.objects.filter(pk__in=keys).values_list("pk", *COLUMNS.values())
    by_key = {row[0]: dict(zip(COLUMNS, row[1:], strict=True)) for row in rows}
    return [build_item(by_key[key]) for key in keys]


def build_item(row: dict) -> dict:
    properties = row.pop("properties")
    is_skill = row["kind"] == "a2a.skill"
    return {
        **row,
        **{name: properties[name] if is_skill else None for name in LIST_FIELDS},
        "agent_id": str(row["agent_id"]),
        "provider_url": row["provider_url"] or None,
        "health_state": row["status"],
    }

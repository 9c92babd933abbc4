"""The same results without an index: a naive query, and a scan in plain Python."""

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
    """Run three LIKEs over the joined tables: a count, then a page."""
    rows = get_listed_capabilities()
    if query.kind:
        rows = rows.filter(kind=query.kind)
    for term in query.q.split():
        condition = Q(name__icontains=term) | Q(description__icontains=term)
        rows = rows.filter(condition | Q(properties__icontains=term))
    ordered = rows.order_by(*ORDERS[query.sort]).values(*COLUMNS.values())
    return rows.count(), list(ordered[query.offset : query.offset + LIMIT])


class Scan:
    """All listed capabilities in memory, sorted in each of the two orders."""

    def __init__(self) -> None:
        names = ("kind", "name", "description", "properties", "agent_name", "agent_id")
        columns = ("pk", *(COLUMNS[name] for name in names))
        rows = [
            normalize_row(row)
            for row in get_listed_capabilities().values_list(*columns).iterator()
        ]
        self.orders = {
            "name_asc": sorted(rows),
            "agentName_asc": sorted(rows, key=lambda r: (r[2], r[3], r[0], r[1])),
        }

    def search(self, query: BenchQuery) -> dict:
        """Return the response that the endpoint must give."""
        kind, words = query.kind, parse_terms(query.q)
        keys = [
            row[4]
            for row in self.orders[query.sort]
            if (not kind or row[1] == kind) and all(word in row[5] for word in words)
        ]
        return {
            "total": len(keys),
            "items": fetch_items(keys[query.offset : query.offset + LIMIT]),
        }


def normalize_row(row: tuple) -> tuple:
    """Return the sort keys, the primary key and the searchable text of a row."""
    pk, kind, name, description, properties, agent_name, agent_id = row
    texts = [name, description, properties.get("title") or ""]
    text = "\0".join(map(fold, [*texts, *properties.get("tags", [])]))
    return fold(name), kind, fold(agent_name), str(agent_id), pk, text


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

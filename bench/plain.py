"""The same answers without any index: seed 000's query, and a scan in plain Python."""

from django.db.models import Q

from capabilities.kinds import discoverable_kinds
from catalog.models import REACHABLE_STATUSES, Capability
from catalog.search import fold, parse_terms

from .queries import LIMIT, Ask

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
LISTED = ("tags", "input_modes", "output_modes")


def listed():
    return Capability.objects.filter(
        kind__in=discoverable_kinds(), agent_type__entry__status__in=REACHABLE_STATUSES
    )


def naive(ask: Ask) -> tuple[int, list]:
    """Three LIKEs over the joined tables; a count, then a page."""
    rows = listed()
    if ask.kind:
        rows = rows.filter(kind=ask.kind)
    for term in ask.q.split():
        said = Q(name__icontains=term) | Q(description__icontains=term)
        rows = rows.filter(said | Q(properties__icontains=term))
    ordered = rows.order_by(*ORDERS[ask.sort]).values(*COLUMNS.values())
    return rows.count(), list(ordered[ask.offset : ask.offset + LIMIT])


class Scan:
    """Every listed capability in memory, once in each of the two promised orders."""

    def __init__(self) -> None:
        names = ("kind", "name", "description", "properties", "agent_name", "agent_id")
        columns = ("pk", *(COLUMNS[name] for name in names))
        rows = [folded(row) for row in listed().values_list(*columns).iterator()]
        self.orders = {
            "name_asc": sorted(rows),
            "agentName_asc": sorted(rows, key=lambda r: (r[2], r[3], r[0], r[1])),
        }

    def answer(self, ask: Ask) -> dict:
        """What the endpoint must answer, field by field."""
        kind, words = ask.kind, parse_terms(ask.q)
        found = [
            row[4]
            for row in self.orders[ask.sort]
            if (not kind or row[1] == kind) and all(word in row[5] for word in words)
        ]
        return {
            "total": len(found),
            "items": items(found[ask.offset : ask.offset + LIMIT]),
        }


def folded(row: tuple) -> tuple:
    """What it is ordered by, its key, and all it says."""
    pk, kind, name, description, properties, agent_name, agent_id = row
    texts = [name, description, properties.get("title") or ""]
    said = "\0".join(map(fold, [*texts, *properties.get("tags", [])]))
    return fold(name), kind, fold(agent_name), str(agent_id), pk, said


def items(keys: list) -> list[dict]:
    rows = Capability.objects.filter(pk__in=keys).values_list("pk", *COLUMNS.values())
    by_key = {row[0]: dict(zip(COLUMNS, row[1:], strict=True)) for row in rows}
    return [item(by_key[key]) for key in keys]


def item(row: dict) -> dict:
    properties = row.pop("properties")
    is_skill = row["kind"] == "a2a.skill"
    return {
        **row,
        **{name: properties[name] if is_skill else None for name in LISTED},
        "agent_id": str(row["agent_id"]),
        "provider_url": row["provider_url"] or None,
        "health_state": row["status"],
    }

"""Export the catalog as JSON Lines and import them again."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from capabilities.interfaces import CapabilityMerger
from capabilities.kinds import kinds
from capabilities.parsers import parse, parsers

from ..ingestion import Definition, IngestResult, ingest
from ..models import AgentType, Capability, CatalogEntry, Source, Status
from ..search import build_state_changed, save_entry

FORMAT = "agentlens.entry/1"
TEXT_FIELDS = ("display_name", "description", "source_url")
TIME_FIELDS = ("validity_from", "validity_to")
CAPABILITY_FIELDS = ("kind", "name", "description", "properties")


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_list_of_definitions(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_text, value))


def is_list_of_capabilities(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_capability, value))


def is_capability(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("properties"), dict)
        and all(is_text(value.get(name)) for name in ("kind", "name", "description"))
    )


# A check of the value of each member of an exported entry.
MEMBERS: dict[str, Callable[[Any], bool]] = {
    "protocol": is_text,
    "endpoint": is_text,
    "definitions": is_list_of_definitions,
    "known": is_list_of_capabilities,
    "status": lambda value: value in Status.values,
    "source": lambda value: value in Source.values,
    "categories": lambda value: isinstance(value, list),
    "metadata": lambda value: isinstance(value, dict),
    **dict.fromkeys(TEXT_FIELDS, is_text),
    **dict.fromkeys(TIME_FIELDS, lambda value: isinstance(value, str | None)),
}
# Members that exports of earlier versions do not have.
OPTIONAL_MEMBERS = ("endpoint", "known")


class InvalidExportLine(ValueError):
    """A line is not an entry of an export."""


def export_lines() -> Iterator[str]:
    """Yield one line for each entry, with all its definitions and curated fields."""
    entries = CatalogEntry.objects.select_related("agent_type").order_by("created_at")
    for entry in entries.iterator(chunk_size=100):
        yield json.dumps(serialize_entry(entry), ensure_ascii=False)


def serialize_entry(entry: CatalogEntry) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "protocol": entry.agent_type.protocol,
        "endpoint": entry.agent_type.endpoint,
        "definitions": [raw.decode() for raw in iter_definitions(entry)],
        "known": list(iter_extra_capabilities(entry)),
        "status": entry.status,
        "source": entry.source,
        "categories": entry.categories,
        "metadata": entry.metadata,
        **{name: getattr(entry, name) for name in TEXT_FIELDS},
        **{name: to_iso(getattr(entry, name)) for name in TIME_FIELDS},
    }


def iter_definitions(entry: CatalogEntry) -> Iterator[bytes]:
    """Yield the raw definition of every version, the current one last."""
    versions = AgentType.objects.filter(agent_key=entry.agent_key)
    older = versions.exclude(pk=entry.agent_type_id).order_by("created_on")
    yield from (agent_type.definition for agent_type in older)
    yield entry.agent_type.definition


def iter_extra_capabilities(entry: CatalogEntry) -> Iterator[dict[str, Any]]:
    """Yield the capabilities that the definitions alone cannot restore."""
    merger = get_merger(entry.agent_type)
    for row in entry.agent_type.capabilities.all():
        if merger and row.kind in kinds and merger.rebuild_capability(row.record):
            yield {name: getattr(row, name) for name in CAPABILITY_FIELDS}


def get_merger(agent_type: AgentType) -> CapabilityMerger | None:
    parser = parsers.get(agent_type.protocol)
    return parser.capability_merger if parser else None


def to_iso(time: datetime | None) -> str | None:
    return time.isoformat() if time else None


def import_line(line: str) -> IngestResult:
    """Restore an exported entry.

    Raise InvalidExportLine, ParseError if a definition is invalid, or ValidationError
    if a field is.
    """
    data = parse_line(line)
    raws = [text.encode() for text in data["definitions"]]
    current = CatalogEntry.objects.filter(agent_type__raw_definition=raws[-1])
    with transaction.atomic():
        # If the current version is stored already, the older ones are not registered.
        results = [
            restore_definition(raw, data)
            for raw in (raws[-1:] if current.exists() else raws)
        ]
        # The first registration shows whether the agent was new.
        result = replace(results[-1], outcome=results[0].outcome)
        result.entry.source_url = data["source_url"]
        restore_capabilities(result.entry, data.get("known", []))
        restore_fields(result.entry, data)
    return result


def restore_definition(raw: bytes, data: dict[str, Any]) -> IngestResult:
    """Register a definition as it was: with its endpoint and the URL it came from."""
    endpoint, base_url = data.get("endpoint", ""), data["source_url"]
    record, warnings = parse(raw, data["protocol"], endpoint, base_url)
    return ingest(Definition(record, raw, source=data["source"])).with_warnings(
        warnings
    )


def restore_capabilities(
    entry: CatalogEntry, capabilities: list[dict[str, Any]]
) -> None:
    """Restore the valid capabilities that the definitions alone cannot restore."""
    agent_type = entry.agent_type
    merger, agent_record = get_merger(agent_type), entry.parse_definition().record
    rows = [Capability(**row) for row in capabilities if row["kind"] in kinds]
    restored = [merger.rebuild_capability(row.record) for row in rows] if merger else []
    valid = [record for record in restored if record and not list(record.validate())]
    if agent_record and valid:
        definition = Definition(
            replace(agent_record, capabilities=tuple(valid)),
            agent_type.definition,
            source=entry.source,
            is_partial=True,
        )
        ingest(definition)
        entry.refresh_from_db()


def parse_line(line: str) -> dict[str, Any]:
    """Return the data of a line; raise InvalidExportLine if its shape is wrong."""
    try:
        data = json.loads(line)
    except ValueError as error:
        raise InvalidExportLine("is not valid JSON") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InvalidExportLine("is not a line of an AgentLens export")
    for name, is_valid in MEMBERS.items():
        if name in data and not is_valid(data[name]):
            raise InvalidExportLine(f"has an invalid member {name!r}")
        if name not in data and name not in OPTIONAL_MEMBERS:
            raise InvalidExportLine(f"lacks the member {name!r}")
    return data


def restore_fields(entry: CatalogEntry, data: dict[str, Any]) -> None:
    previous_status, entry.status = entry.status, data["status"]
    entry.categories, entry.metadata = data["categories"], data["metadata"]
    for name in TEXT_FIELDS:
        setattr(entry, name, data[name])
    for name in TIME_FIELDS:
        setattr(entry, name, parse_datetime(data[name]) if data[name] else None)
    entry.next_probe_at = timezone.now() if entry.can_be_probed else None
    entry.full_clean(exclude=["agent_type", "agent_key"])
    events = []
    if entry.status != previous_status:
        events.append(build_state_changed(entry, previous_status))
    save_entry(entry, *events)

"""Export the catalog as JSON lines and import them again."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from capabilities.interfaces import CapabilityMerger
from capabilities.kinds import kinds
from capabilities.parsers import parsers, try_parse
from capabilities.records import AgentRecord

from ..ingestion import Definition, IngestResult, ingest
from ..models import AgentType, Capability, CatalogEntry, Source, Status
from ..search import build_state_changed, save_entry
from .service import register

FORMAT = "agentlens.entry/1"
TEXT_FIELDS = ("display_name", "description", "source_url")
TIME_FIELDS = ("validity_from", "validity_to")
CAPABILITY_FIELDS = ("kind", "name", "description", "properties")


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
    others = AgentType.objects.filter(agent_key=entry.agent_key)
    others = others.exclude(pk=entry.agent_type_id).order_by("created_on")
    yield from (agent_type.definition for agent_type in others)
    yield entry.agent_type.definition


def iter_extra_capabilities(entry: CatalogEntry) -> Iterator[dict[str, Any]]:
    """Yield the capabilities that the definitions do not contain."""
    merger = get_merger(entry.agent_type)
    for row in entry.agent_type.capabilities.all():
        if merger and row.kind in kinds and merger.restore(row.record):
            yield {name: getattr(row, name) for name in CAPABILITY_FIELDS}


def get_merger(agent_type: AgentType) -> CapabilityMerger | None:
    parser = parsers.get(agent_type.protocol)
    return parser.capability_merger if parser else None


def to_iso(time: datetime | None) -> str | None:
    return time.isoformat() if time else None


def import_line(line: str) -> IngestResult:
    """Restore an exported entry.

    Raise InvalidExportLine, or ParseError if a definition is invalid.
    """
    data = parse_line(line)
    raws = [text.encode() for text in data["definitions"]]
    current = CatalogEntry.objects.filter(agent_type__raw_definition=raws[-1])
    with transaction.atomic():
        results = [
            register(
                raw,
                data["protocol"],
                data["source"],
                endpoint=data.get("endpoint", ""),
            )
            for raw in (raws[-1:] if current.exists() else raws)
        ]
        result = replace(results[-1], result=results[0].result)
        restore_capabilities(result.entry, data.get("known", []))
        restore_fields(result.entry, data)
    return result


def restore_capabilities(
    entry: CatalogEntry, capabilities: list[dict[str, Any]]
) -> None:
    """Restore the valid capabilities that the definitions do not contain."""
    agent_type = entry.agent_type
    merger, record = get_merger(agent_type), parse_stored(agent_type)
    rows = [Capability(**row) for row in capabilities if row["kind"] in kinds]
    restored = [merger.restore(row.record) for row in rows] if merger else []
    valid = [item for item in restored if item and not list(item.validate())]
    if record and valid:
        record = replace(record, capabilities=tuple(valid))
        raw = agent_type.definition
        ingest(Definition(record, raw, entry.source, is_partial=True))
        entry.refresh_from_db()


def parse_stored(agent_type: AgentType) -> AgentRecord | None:
    result = try_parse(agent_type.definition, agent_type.protocol, agent_type.endpoint)
    return result.record


def is_valid_capability(row: Any) -> bool:
    if not isinstance(row, dict) or not isinstance(row["properties"], dict):
        return False
    return all(isinstance(row[name], str) for name in ("kind", "name", "description"))


def parse_line(line: str) -> dict[str, Any]:
    """Return the data of a line; raise InvalidExportLine if its shape is wrong."""
    try:
        data: dict[str, Any] = json.loads(line)
        is_valid = (
            data["format"] == FORMAT
            and data["source"] in Source.values
            and data["status"] in Status.values
            and bool(data["definitions"])
            and all(isinstance(text, str) for text in data["definitions"])
            and isinstance(data["categories"], list)
            and isinstance(data["metadata"], dict)
            and all(isinstance(data[name], str) for name in TEXT_FIELDS)
            and isinstance(data.get("endpoint", ""), str)
            and all(is_valid_capability(row) for row in data.get("known", []))
            and all(isinstance(data[name], str | None) for name in TIME_FIELDS)
        )
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidExportLine("is not a line of an AgentLens export") from error
    if not is_valid:
        raise InvalidExportLine("is not a line of an AgentLens export")
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

"""The catalog as JSON lines: out of one AgentLens and into another."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from capabilities.interfaces import CapabilityMerger
from capabilities.kinds import kinds
from capabilities.parsers import examine, parsers
from capabilities.records import AgentRecord

from ..ingestion import Definition, Outcome, ingest
from ..models import AgentType, Capability, CatalogEntry, Source, Status
from ..search import save_entry, state_change
from .service import register

FORMAT = "agentlens.entry/1"
TEXTS = ("display_name", "description", "source_url")
TIMES = ("validity_from", "validity_to")
ROW = ("kind", "name", "description", "properties")


class NotTransferable(ValueError):
    """A line that is no entry of an export."""


def export_lines() -> Iterator[str]:
    """Each entry on a line: every definition of its agent, and what people said."""
    entries = CatalogEntry.objects.select_related("agent_type").order_by("created_at")
    for entry in entries.iterator(chunk_size=100):
        yield json.dumps(exported(entry), ensure_ascii=False)


def exported(entry: CatalogEntry) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "protocol": entry.agent_type.protocol,
        "endpoint": entry.agent_type.endpoint,
        "definitions": [raw.decode() for raw in definitions(entry)],
        "known": list(known_beside(entry)),
        "status": entry.status,
        "source": entry.source,
        "categories": entry.categories,
        "metadata": entry.metadata,
        **{name: getattr(entry, name) for name in TEXTS},
        **{name: iso(getattr(entry, name)) for name in TIMES},
    }


def definitions(entry: CatalogEntry) -> Iterator[bytes]:
    """Every version, the current one last."""
    others = AgentType.objects.filter(agent_key=entry.agent_key)
    others = others.exclude(pk=entry.agent_type_id).order_by("created_on")
    yield from (agent_type.definition for agent_type in others)
    yield entry.agent_type.definition


def known_beside(entry: CatalogEntry) -> Iterator[dict[str, Any]]:
    """What is known of the agent that none of its definitions says."""
    merger = merger_of(entry.agent_type)
    for row in entry.agent_type.capabilities.all():
        if merger and row.kind in kinds and merger.restore(row.record):
            yield {name: getattr(row, name) for name in ROW}


def merger_of(agent_type: AgentType) -> CapabilityMerger | None:
    parser = parsers.get(agent_type.protocol)
    return parser.capability_merger if parser else None


def iso(moment: Any) -> str | None:
    return moment.isoformat() if moment else None


def import_line(line: str) -> Outcome:
    """Catalogue an exported entry as it was; raises when a definition is refused."""
    told = transferred(line)
    raws = [text.encode() for text in told["definitions"]]
    held = CatalogEntry.objects.filter(agent_type__raw_definition=raws[-1])
    with transaction.atomic():
        outcomes = [
            register(
                raw,
                told["protocol"],
                told["source"],
                endpoint=told.get("endpoint", ""),
            )
            for raw in (raws[-1:] if held.exists() else raws)
        ]
        outcome = replace(outcomes[-1], result=outcomes[0].result)
        remember(outcome.entry, told.get("known", []))
        restore(outcome.entry, told)
    return outcome


def remember(entry: CatalogEntry, known: list[dict[str, Any]]) -> None:
    """Put back what was known beside the definitions, as far as it proves itself."""
    agent_type = entry.agent_type
    merger, record = merger_of(agent_type), stated_record(agent_type)
    rows = [Capability(**row) for row in known if row["kind"] in kinds]
    found = [merger.restore(row.record) for row in rows] if merger else []
    fresh = [one for one in found if one and not list(one.validate())]
    if record and fresh:
        beside = replace(record, capabilities=tuple(fresh))
        raw = agent_type.definition
        ingest(Definition(beside, raw, entry.source, introduces=True))
        entry.refresh_from_db()


def stated_record(agent_type: AgentType) -> AgentRecord | None:
    given = (agent_type.definition, agent_type.protocol, agent_type.endpoint)
    return examine(*given).record


def is_row(row: Any) -> bool:
    *texts, properties = ROW
    named = isinstance(row, dict) and all(isinstance(row[name], str) for name in texts)
    return named and isinstance(row[properties], dict)


def transferred(line: str) -> dict[str, Any]:
    """What the line tells, if it has the shape that `exported` gives."""
    try:
        told: dict[str, Any] = json.loads(line)
        sound = (
            told["format"] == FORMAT
            and told["source"] in Source.values
            and told["status"] in Status.values
            and bool(told["definitions"])
            and all(isinstance(text, str) for text in told["definitions"])
            and isinstance(told["categories"], list)
            and isinstance(told["metadata"], dict)
            and all(isinstance(told[name], str) for name in TEXTS)
            and isinstance(told.get("endpoint", ""), str)
            and all(is_row(row) for row in told.get("known", []))
            and all(isinstance(told[name], str | None) for name in TIMES)
        )
    except (ValueError, TypeError, KeyError) as error:
        raise NotTransferable("is not a line of an AgentLens export") from error
    if not sound:
        raise NotTransferable("is not a line of an AgentLens export")
    return told


def restore(entry: CatalogEntry, told: dict[str, Any]) -> None:
    before, entry.status = entry.status, told["status"]
    entry.categories, entry.metadata = told["categories"], told["metadata"]
    for name in TEXTS:
        setattr(entry, name, told[name])
    for name in TIMES:
        setattr(entry, name, parse_datetime(told[name]) if told[name] else None)
    entry.next_probe_at = timezone.now() if entry.can_be_probed else None
    entry.full_clean(exclude=["agent_type", "agent_key"])
    changes = [state_change(entry, before)] if entry.status != before else []
    save_entry(entry, *changes)

"""The catalog as JSON lines: out of one AgentLens and into another."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.utils.dateparse import parse_datetime

from . import search
from .ingest import Outcome
from .intake import register
from .models import AgentType, CatalogEntry, Source, Status

FORMAT = "agentlens.entry/1"
TEXTS = ("display_name", "description", "source_url")
TIMES = ("validity_from", "validity_to")


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
        "definitions": [raw.decode() for raw in definitions(entry)],
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


def iso(moment: Any) -> str | None:
    return moment.isoformat() if moment else None


def import_line(line: str) -> Outcome:
    """Catalogue an exported entry as it was; raises when a definition is refused."""
    told = transferred(line)
    raws = [text.encode() for text in told["definitions"]]
    held = CatalogEntry.objects.filter(agent_type__raw_definition=raws[-1])
    with transaction.atomic():
        outcomes = [
            register(raw, told["protocol"], told["source"])
            for raw in (raws[-1:] if held.exists() else raws)
        ]
        outcome = replace(outcomes[-1], result=outcomes[0].result)
        restore(outcome.entry, told)
    return outcome


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
            and all(isinstance(told[name], str | None) for name in TIMES)
        )
    except (ValueError, TypeError, KeyError) as error:
        raise NotTransferable("is not a line of an AgentLens export") from error
    if not sound:
        raise NotTransferable("is not a line of an AgentLens export")
    return told


def restore(entry: CatalogEntry, told: dict[str, Any]) -> None:
    entry.status = told["status"]
    entry.categories, entry.metadata = told["categories"], told["metadata"]
    for name in TEXTS:
        setattr(entry, name, told[name])
    for name in TIMES:
        setattr(entry, name, parse_datetime(told[name]) if told[name] else None)
    if entry.status == Status.DEPRECATED:
        entry.next_probe_at = None
    entry.full_clean(exclude=["agent_type", "agent_key"])
    entry.save()
    search.index(CatalogEntry.objects.filter(pk=entry.pk))

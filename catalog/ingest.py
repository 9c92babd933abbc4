"""Writing: from a record to rows, all of a definition or none of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from capabilities.parsers import examine
from capabilities.problems import Problem
from capabilities.records import AgentRecord, CapabilityRecord

from . import search
from .models import (
    AgentType,
    Capability,
    CatalogEntry,
    DefinitionChange,
    Provider,
    Source,
    Status,
    agent_key,
)

# Racing writers meet a unique constraint a few times at most, then see each other.
ATTEMPTS = 5
# What a definition says and a curator may say better.
CURATED = ("display_name", "description")

Content = dict[tuple[str, str], tuple[str, dict[str, Any]]]


class Result(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition as it came in: the bytes, what they say, and where they are from."""

    record: AgentRecord
    raw: bytes
    source: str = Source.PUSH
    url: str = ""
    etag: str = ""


@dataclass(frozen=True, slots=True)
class Changes:
    """Capabilities that differ between two definitions, as {"kind", "name"}."""

    added: list[dict[str, str]] = field(default_factory=list)
    removed: list[dict[str, str]] = field(default_factory=list)
    changed: list[dict[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Outcome:
    entry: CatalogEntry
    result: Result
    changes: Changes = field(default_factory=Changes)
    warnings: list[Problem] = field(default_factory=list)


def ingest(definition: Definition) -> Outcome:
    """Catalogue a definition; the same one twice changes nothing but `last seen`."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with transaction.atomic():
                return write(definition)
        except IntegrityError:
            # Another writer was first with this agent: look again, and find it.
            if attempt == ATTEMPTS:
                raise
    raise AssertionError("unreachable")


def write(definition: Definition) -> Outcome:
    record = definition.record
    key = agent_key(record.protocol, record.endpoint)
    # Without a join: after waiting for the lock, PostgreSQL would look for the agent
    # type of the new row in the old snapshot, and find no entry at all.
    entry = CatalogEntry.objects.select_for_update().filter(agent_key=key).first()
    if entry is None:
        return create(definition, key)
    current = entry.agent_type
    if current.version == record.version and current.definition == definition.raw:
        touch(entry, definition)
        return Outcome(entry, Result.UNCHANGED)
    return update(entry, definition)


def create(definition: Definition, key: str) -> Outcome:
    agent_type = write_agent_type(definition, key)
    entry = CatalogEntry(agent_key=key, agent_type=agent_type)
    for name in CURATED:
        setattr(entry, name, getattr(definition.record, name))
    if not definition.record.can_be_probed:
        entry.status = Status.ACTIVE
    touch(entry, definition)
    search.index(CatalogEntry.objects.filter(pk=entry.pk))
    return Outcome(entry, Result.CREATED)


def update(entry: CatalogEntry, definition: Definition) -> Outcome:
    """Move the entry to this definition, and remember what it replaced."""
    previous = entry.agent_type
    replaced, before = previous.definition, stored_content(previous)
    entry.agent_type = write_agent_type(definition, entry.agent_key)
    follow(entry, replaced, definition.record)
    touch(entry, definition)
    changes = compare(before, stated_content(definition.record.capabilities))
    DefinitionChange.objects.create(
        entry=entry,
        agent_type=entry.agent_type,
        previous_version=previous.version,
        digest=entry.agent_type.digest,
        replaced_definition=replaced,
        added=changes.added,
        removed=changes.removed,
        changed=changes.changed,
    )
    search.index(CatalogEntry.objects.filter(pk=entry.pk))
    return Outcome(entry, Result.UPDATED, changes)


def write_agent_type(definition: Definition, key: str) -> AgentType:
    """The agent type of this key and version, made or made to agree."""
    record = definition.record
    agent_type, _ = AgentType.objects.update_or_create(
        agent_key=key,
        version=record.version,
        defaults={
            "protocol": record.protocol,
            "endpoint": record.endpoint,
            "spec_version": record.spec_version,
            "provider": Provider.objects.upsert(record.provider),
            "raw_definition": definition.raw,
        },
    )
    write_capabilities(agent_type, record.capabilities)
    return agent_type


def write_capabilities(
    agent_type: AgentType, records: Iterable[CapabilityRecord]
) -> None:
    """Make the rows agree, leaving those alone that already do."""
    rows = {(row.kind, row.name): row for row in agent_type.capabilities.all()}
    fresh, altered = [], []
    for record in records:
        row = rows.pop((record.kind, record.name), None)
        if row is None:
            fresh.append(Capability.of(agent_type, record))
        elif content(row) != content(record):
            row.description, row.properties = record.description, record.properties
            altered.append(row)
    agent_type.capabilities.filter(pk__in=[row.pk for row in rows.values()]).delete()
    Capability.objects.bulk_update(
        altered, ["description", "properties"], batch_size=200
    )
    Capability.objects.bulk_create(fresh, batch_size=500)


def follow(entry: CatalogEntry, replaced: bytes, record: AgentRecord) -> None:
    """Take over what the definition says, except where a curator said otherwise."""
    before = examine(replaced, record.protocol).record
    for name in CURATED:
        if before is not None and getattr(entry, name) == getattr(before, name):
            setattr(entry, name, getattr(record, name))


def touch(entry: CatalogEntry, definition: Definition) -> None:
    """Seen now, from here; and due to be probed, if it is one to be probed."""
    now = timezone.now()
    entry.validity_last_seen = now
    entry.source = definition.source
    # An ETag speaks for the bytes that came with it, and for no others.
    entry.source_etag = definition.etag
    entry.source_url = definition.url or entry.source_url
    entry.next_probe_at = now if entry.can_be_probed else None
    entry.save()


def content(capability: Capability | CapabilityRecord) -> tuple[str, dict[str, Any]]:
    return capability.description, capability.properties


def stored_content(agent_type: AgentType) -> Content:
    return {(row.kind, row.name): content(row) for row in agent_type.capabilities.all()}


def stated_content(records: Iterable[CapabilityRecord]) -> Content:
    return {(record.kind, record.name): content(record) for record in records}


def compare(before: Content, after: Content) -> Changes:
    def listed(keys: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
        return [{"kind": kind, "name": name} for kind, name in sorted(keys)]

    common = before.keys() & after.keys()
    return Changes(
        added=listed(after.keys() - before.keys()),
        removed=listed(before.keys() - after.keys()),
        changed=listed(key for key in common if before[key] != after[key]),
    )

"""Writing: from a record to rows, all of a definition or none of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from capabilities.parsers import examine, merges_capabilities
from capabilities.problems import Problem
from capabilities.records import AgentRecord, CapabilityRecord

from ..conf import conf
from ..events import EntryIngested
from ..health import ERROR_LIMIT, lease_end, spread
from ..models import (
    AgentType,
    Capability,
    CatalogEntry,
    DefinitionChange,
    Provider,
    Status,
    agent_key,
)
from ..search import save_entry, save_seen
from .definition import Definition, Due
from .diff import Changes, compare, content, contents

# Racing writers meet a unique constraint a few times at most, then see each other.
ATTEMPTS = 5
# So many changes of one agent are remembered.
CHANGES_KEPT = 100
# What a definition says and a curator may say better.
CURATED = ("display_name", "description")


class Outdated(Exception):
    """An entry that went away, or moved on, while its definition was fetched."""


class Result(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


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
    wait_for_turn(key)
    # Without a join: after waiting for the lock, PostgreSQL would look for the agent
    # type of the new row in the old snapshot, and find no entry at all.
    entry = CatalogEntry.objects.select_for_update().filter(agent_key=key).first()
    refuse_gone(entry, definition)
    if entry is None:
        return create(definition.beside(()), key)
    if definition.introduces:
        definition = definition.under(entry.agent_type.definition)
    definition = definition.completed_by(entry.agent_type.definition)
    definition = definition.beside(entry.agent_type.capabilities.all())
    if is_known(entry.agent_type, definition):
        see_again(entry, definition)
        return Outcome(entry, Result.UNCHANGED)
    then = definition.refreshes
    if then is not None and then.validity_last_seen != entry.validity_last_seen:
        raise Outdated("Another definition came in meanwhile")
    return update(entry, definition)


def refuse_gone(entry: CatalogEntry | None, definition: Definition) -> None:
    """Nobody wants back what was removed, nor a change to what was given up."""
    if definition.refreshes is None:
        return
    if entry is None or entry.pk != definition.refreshes.pk:
        raise Outdated("The agent was removed meanwhile")
    by_itself = definition.due == Due.AS_PLANNED
    if by_itself and entry.status == Status.DEPRECATED:
        raise Outdated("The agent was deprecated meanwhile")


def wait_for_turn(key: str) -> None:
    """One writer of an agent at a time, before it has any row that could be locked.

    SQLite has one writer of anything. Without it, those who create and those who
    find the entry lock agent type and entry in opposite orders.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            lock = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
            cursor.execute(lock, [key])


def is_known(current: AgentType, definition: Definition) -> bool:
    """Whether the entry says all of it already, to the last byte."""
    record = definition.record
    if current.version != record.version or current.definition != definition.raw:
        return False
    if not merges_capabilities(record.protocol):
        return True
    return contents(current.capabilities.all()) == contents(record.capabilities)


def create(definition: Definition, key: str) -> Outcome:
    agent_type = write_agent_type(definition, key)
    entry = CatalogEntry(agent_key=key, agent_type=agent_type)
    for name in CURATED:
        setattr(entry, name, getattr(definition.record, name))
    if entry.declared:
        entry.status = Status.ACTIVE
    touch(entry, definition)
    save_entry(entry, EntryIngested(entry.pk, Result.CREATED))
    return Outcome(entry, Result.CREATED)


def update(entry: CatalogEntry, definition: Definition) -> Outcome:
    """Move the entry to this definition, and remember what it replaced."""
    previous = entry.agent_type
    replaced = previous.definition
    before = contents(previous.capabilities.all())
    entry.agent_type = write_agent_type(definition, entry.agent_key)
    renamed = follow(entry, replaced, definition.record)
    touch(entry, definition)
    changes = compare(before, contents(definition.record.capabilities))
    if definition.repeats_itself and not changes and not renamed:
        save_seen(entry, EntryIngested(entry.pk, Result.UNCHANGED))
        return Outcome(entry, Result.UNCHANGED)
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
    forgotten = entry.changes.values("pk")[CHANGES_KEPT:]
    DefinitionChange.objects.filter(pk__in=forgotten).delete()
    save_entry(entry, EntryIngested(entry.pk, Result.UPDATED))
    return Outcome(entry, Result.UPDATED, changes)


def foreseen(entry: CatalogEntry, definition: Definition) -> Outcome:
    """What ingesting it would do to this entry; nothing is written."""
    current = entry.agent_type
    if is_known(current, definition):
        return Outcome(entry, Result.UNCHANGED)
    known = contents(current.capabilities.all())
    changes = compare(known, contents(definition.record.capabilities))
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


def follow(entry: CatalogEntry, replaced: bytes, record: AgentRecord) -> bool:
    """Take over what the definition says, except where a curator said otherwise.

    Whether any of it is another than before.
    """
    told = [getattr(entry, name) for name in CURATED]
    before = examine(replaced, record.protocol, record.endpoint).record
    for name in CURATED:
        if before is not None and getattr(entry, name) == getattr(before, name):
            setattr(entry, name, getattr(record, name))
    return told != [getattr(entry, name) for name in CURATED]


def touch(entry: CatalogEntry, definition: Definition) -> None:
    """Seen now, from here; and due to be probed, if it is one to be probed."""
    place(entry, definition)
    see(entry, definition)


def see_again(entry: CatalogEntry, definition: Definition) -> None:
    """Seen now, and no more than that; unless it was fetched, from there."""
    written = see(entry, definition)
    if definition.url:
        written += place(entry, definition)
    save_seen(entry, EntryIngested(entry.pk, Result.UNCHANGED), fields=written)


def see(entry: CatalogEntry, definition: Definition) -> list[str]:
    """That it was seen now; what of the entry that changes."""
    if not definition.introduces:
        entry.validity_last_seen = timezone.now()
    entry.next_probe_at = due_after(entry, definition) if entry.can_be_probed else None
    return ["validity_last_seen", "next_probe_at"]


def place(entry: CatalogEntry, definition: Definition) -> list[str]:
    """Where it came from, and when to look there again; what of the entry changes."""
    entry.source = definition.source
    # An ETag speaks for the bytes that came with it, and for no others.
    entry.source_etag = definition.etag
    entry.source_url = definition.url or entry.source_url
    entry.authorized = definition.authorized
    interval = spread(conf.REFRESH_INTERVAL)
    entry.next_refresh_at = timezone.now() + interval
    entry.definition_problem = definition.problem[:ERROR_LIMIT]
    return PLACED


PLACED = [
    "source",
    "source_etag",
    "source_url",
    "authorized",
    "next_refresh_at",
    "definition_problem",
]


def due_after(entry: CatalogEntry, definition: Definition) -> datetime:
    match definition.due:
        case Due.BY_CALLER:
            return lease_end()
        case Due.AS_PLANNED if entry.next_probe_at:
            return entry.next_probe_at
    return timezone.now()

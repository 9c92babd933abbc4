"""Find the entry of an agent, also under a key of an earlier version of AgentLens."""

from collections.abc import Iterable

from django.db import connection
from django.db.models import QuerySet

from capabilities.records import AgentRecord

from ..models import AgentType, CatalogEntry, compute_agent_key
from ..search import save_entry

MOVED_FIELDS = ["agent_key", "probe_method", "updated_at"]


def compute_record_key(record: AgentRecord) -> str:
    return compute_agent_key(record.protocol, record.identifier)


def compute_former_keys(record: AgentRecord) -> list[str]:
    """Return the keys under which earlier versions stored such an agent."""
    return [
        compute_agent_key(record.protocol, identity)
        for identity in record.former_identities
    ]


def list_keys(record: AgentRecord) -> list[str]:
    """Return the key of a record, then its former keys."""
    return [compute_record_key(record), *compute_former_keys(record)]


def is_same_agent(entry: CatalogEntry, record: AgentRecord) -> bool:
    """Return whether a record describes the entry's agent.

    The entry may still have a key that an earlier version gave it.
    """
    if entry.agent_key == compute_record_key(record):
        return True
    if entry.agent_key not in compute_former_keys(record):
        return False
    stored = entry.parse_definition().record
    return stored is not None and stored.identifier == record.identifier


def lock_entry(record: AgentRecord) -> CatalogEntry | None:
    """Lock the agent of a record and return its entry, under its current key."""
    lock_agents(list_keys(record))
    # No select_related: after waiting for the lock, PostgreSQL would look for the new
    # row's agent type in the old snapshot and return no entry at all.
    entry = select_entry(record, CatalogEntry.objects.select_for_update())
    if entry is not None and entry.agent_key != compute_record_key(record):
        move_entry(entry, record)
    return entry


def find_entry(record: AgentRecord) -> CatalogEntry | None:
    """Return the entry that registering the record would update, without locking."""
    return select_entry(record, CatalogEntry.objects.select_related("agent_type"))


def select_entry(
    record: AgentRecord, entries: QuerySet[CatalogEntry]
) -> CatalogEntry | None:
    """Return the entry under the record's key, else that under a former key."""
    rows = entries.filter(agent_key__in=list_keys(record)).order_by("pk")
    by_key = {entry.agent_key: entry for entry in rows}
    candidates = (by_key.get(key) for key in list_keys(record))
    return next(
        (entry for entry in candidates if entry and is_same_agent(entry, record)), None
    )


def lock_agents(keys: Iterable[str]) -> None:
    """Lock several agents in one order, so that transactions cannot deadlock."""
    for key in sorted(set(keys)):
        lock_agent(key)


def lock_agent(key: str) -> None:
    """Let one transaction at a time write an agent, even before it has any row.

    Without this lock, creating and updating transactions lock agent type and entry in
    opposite orders. SQLite needs none because it has only one writer.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            sql = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
            cursor.execute(sql, [key])


def move_entry(entry: CatalogEntry, record: AgentRecord) -> None:
    """Store the entry and all versions of its agent under the key of the record."""
    key = compute_record_key(record)
    versions = AgentType.objects.filter(agent_key=entry.agent_key)
    versions.update(agent_key=key, endpoint=record.endpoint)
    entry.agent_key, entry.probe_method = key, ""
    entry.agent_type.refresh_from_db(fields=["agent_key", "endpoint"])
    save_entry(entry, fields=MOVED_FIELDS)

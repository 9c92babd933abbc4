"""Write definitions to the database, each in one transaction."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from django.db import IntegrityError, transaction
from django.utils import timezone

from capabilities.parsers import has_capability_merger, try_parse
from capabilities.problems import Problem
from capabilities.records import AgentRecord, CapabilityRecord

from ..conf import conf
from ..events import EntryIngested
from ..health import (
    ERROR_LIMIT,
    activate_declared,
    add_jitter,
    compute_lease_end,
)
from ..models import (
    AgentType,
    Capability,
    CatalogEntry,
    DefinitionChange,
    Provider,
    Status,
)
from ..search import save_entry, save_seen
from .definition import Definition, ProbeTiming
from .diff import (
    AgentContent,
    DefinitionDifferences,
    diff_definitions,
    get_content,
    index_capabilities,
)
from .identity import compute_record_key, lock_agent, lock_entry
from .replacement import build_replaced_warnings, find_replaced_name
from .stubs import AgentAlreadyKnown, check_stub_is_needed, move_stub

# Concurrent writers violate a unique constraint at most a few times: afterwards the
# rows exist.
UPSERT_ATTEMPTS = 5
# Definition changes stored for each entry.
CHANGE_LIMIT = 100
# Fields that a definition sets and an editor may override.
CURATED_FIELDS = ("display_name", "description")
# Fields that `set_source` sets.
SOURCE_FIELDS = [
    "source",
    "source_etag",
    "source_url",
    "authorized",
    "next_refresh_at",
    "definition_problem",
    "probe_method",
]


class EntryChanged(Exception):
    """The entry was removed, deprecated or updated while its definition was fetched."""


class IngestOutcome(StrEnum):
    """What ingesting a definition did to its entry."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class IngestResult:
    entry: CatalogEntry
    outcome: IngestOutcome
    changes: DefinitionDifferences = field(default_factory=DefinitionDifferences)
    warnings: list[Problem] = field(default_factory=list)
    # The name of the agent that was in the entry, if this is another one.
    replaced_name: str = ""

    def with_warnings(self, warnings: list[Problem]) -> "IngestResult":
        """Return a copy with the warnings about the definition added."""
        return replace(self, warnings=[*self.warnings, *warnings])


def ingest(definition: Definition) -> IngestResult:
    """Create or update the entry of a definition in one transaction.

    An unchanged definition only updates the last-seen time, the next probe and the
    source. Raise EntryChanged if the definition was fetched to refresh an entry that
    was removed or updated in the meantime, or deprecated before a scheduled refresh.
    """
    for attempt in range(1, UPSERT_ATTEMPTS + 1):
        try:
            with transaction.atomic():
                result = upsert_entry(definition)
                activate_declared([result.entry])
                return result
        except IntegrityError:
            # Another writer created this agent first: the next attempt finds it.
            if attempt == UPSERT_ATTEMPTS:
                raise
    raise AssertionError("unreachable")


def upsert_entry(definition: Definition) -> IngestResult:
    if definition.refreshed_entry is not None:
        move_refreshed_stub(definition.refreshed_entry, definition.record)
    entry = lock_entry(definition.record)
    check_entry_is_current(entry, definition)
    check_stub_is_needed(entry, definition.raw, definition.record.protocol)
    if entry is None:
        key = compute_record_key(definition.record)
        return create_entry(definition.with_merged_capabilities(()), key)
    if definition.is_partial:
        definition = definition.added_to(entry)
    definition = definition.with_introspected_members(entry.agent_type.definition)
    definition = definition.with_merged_capabilities(
        entry.agent_type.capabilities.all()
    )
    if is_unchanged(entry.agent_type, definition):
        save_unchanged(entry, definition)
        return IngestResult(entry, IngestOutcome.UNCHANGED)
    refreshed_entry = definition.refreshed_entry
    if (
        refreshed_entry is not None
        and refreshed_entry.validity_last_seen != entry.validity_last_seen
    ):
        raise EntryChanged("The agent was registered or refreshed in the meantime")
    return update_entry(entry, definition)


def move_refreshed_stub(entry: CatalogEntry, record: AgentRecord) -> None:
    """Give a stub being refreshed its identity; raise EntryChanged if it is taken."""
    try:
        move_stub(entry, record)
    except AgentAlreadyKnown as error:
        raise EntryChanged(
            f"The catalog already has this agent ({record.endpoint}) as another entry:"
            " delete this one"
        ) from error


def check_entry_is_current(entry: CatalogEntry | None, definition: Definition) -> None:
    """Raise EntryChanged if the entry being refreshed is not the agent's entry.

    A scheduled refresh also fails if the entry was deprecated.
    """
    refreshed_entry = definition.refreshed_entry
    if refreshed_entry is None:
        return
    if not CatalogEntry.objects.filter(pk=refreshed_entry.pk).exists():
        raise EntryChanged("The agent was removed in the meantime")
    if entry is None or entry.pk != refreshed_entry.pk:
        raise EntryChanged(
            "The catalog has this agent as another entry, too: delete one of them"
        )
    is_scheduled = definition.probe_timing == ProbeTiming.ON_SCHEDULE
    if is_scheduled and entry.status == Status.DEPRECATED:
        raise EntryChanged("The agent was deprecated in the meantime")


def is_unchanged(current: AgentType, definition: Definition) -> bool:
    """Return whether the stored agent type already equals the definition."""
    record = definition.record
    if current.version != record.version or current.definition != definition.raw:
        return False
    if current.endpoint != record.endpoint:
        return False
    if not has_capability_merger(record.protocol):
        return True
    return index_capabilities(current.capabilities.all()) == index_capabilities(
        record.capabilities
    )


def create_entry(definition: Definition, key: str) -> IngestResult:
    agent_type = upsert_agent_type(definition, key)
    entry = CatalogEntry(agent_key=key, agent_type=agent_type)
    for name in CURATED_FIELDS:
        setattr(entry, name, getattr(definition.record, name))
    if entry.declared:
        entry.status = Status.ACTIVE
    set_source(entry, definition)
    mark_seen(entry, definition)
    save_entry(entry, EntryIngested(entry.pk, IngestOutcome.CREATED))
    return IngestResult(entry, IngestOutcome.CREATED)


def update_entry(entry: CatalogEntry, definition: Definition) -> IngestResult:
    """Update the entry to this definition and store what changed."""
    previous, previous_record = entry.agent_type, entry.parse_definition().record
    previous_raw = previous.definition
    before = AgentContent.from_stored(previous, previous_record)
    replaced_name = find_replaced_name(
        entry, previous_record, before.capabilities, definition.record
    )
    warnings = build_authorization_warnings(entry, definition)
    entry.agent_type = upsert_agent_type(definition, entry.agent_key)
    fields_changed = update_uncurated_fields(entry, previous_record, definition.record)
    set_source(entry, definition)
    mark_seen(entry, definition)
    changes = diff_definitions(before, AgentContent.from_record(definition.record))
    if definition.announces_presence and not changes and not fields_changed:
        save_seen(entry, EntryIngested(entry.pk, IngestOutcome.UNCHANGED))
        return IngestResult(entry, IngestOutcome.UNCHANGED)
    record_change(entry, changes, previous.version, previous_raw)
    event = EntryIngested(
        entry.pk, IngestOutcome.UPDATED, replaced_name, changes.summary
    )
    save_entry(entry, event)
    result = build_updated_result(entry, changes, replaced_name)
    return result.with_warnings(warnings)


def build_authorization_warnings(
    entry: CatalogEntry, definition: Definition
) -> list[Problem]:
    """Warn if the definition may lack what only authorized clients get."""
    if not entry.authorized or definition.authorized or not definition.url:
        return []
    message = (
        "was fetched without an Authorization header, unlike the stored definition: it"
        " may lack what only authorized clients get"
    )
    return [Problem("$", message)]


def record_change(
    entry: CatalogEntry,
    changes: DefinitionDifferences,
    previous_version: str,
    previous_raw: bytes,
) -> None:
    """Store what changed, and delete the oldest changes beyond CHANGE_LIMIT."""
    DefinitionChange.objects.create(
        entry=entry,
        agent_type=entry.agent_type,
        previous_version=previous_version,
        digest=entry.agent_type.digest,
        replaced_definition=previous_raw,
        added=changes.added,
        removed=changes.removed,
        changed=changes.changed,
        fields=changes.fields,
        breaking=changes.total_breaking > 0,
        breaking_count=changes.total_breaking,
        breaking_reasons=changes.breaking_reasons,
    )
    surplus = entry.changes.values("pk")[CHANGE_LIMIT:]
    DefinitionChange.objects.filter(pk__in=surplus).delete()


def build_updated_result(
    entry: CatalogEntry, changes: DefinitionDifferences, replaced_name: str
) -> IngestResult:
    warnings = build_replaced_warnings(replaced_name)
    return IngestResult(entry, IngestOutcome.UPDATED, changes, warnings, replaced_name)


def preview_ingest(entry: CatalogEntry, definition: Definition) -> IngestResult:
    """Return what ingesting the definition would change, without writing anything."""
    current = entry.agent_type
    if is_unchanged(current, definition):
        return IngestResult(entry, IngestOutcome.UNCHANGED)
    previous_record = entry.parse_definition().record
    before = AgentContent.from_stored(current, previous_record)
    changes = diff_definitions(before, AgentContent.from_record(definition.record))
    replaced_name = find_replaced_name(
        entry, previous_record, before.capabilities, definition.record
    )
    return build_updated_result(entry, changes, replaced_name)


def upsert_agent_type(definition: Definition, key: str) -> AgentType:
    """Create or update the agent type of this key and version."""
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
    sync_capabilities(agent_type, record.capabilities)
    return agent_type


def sync_capabilities(
    agent_type: AgentType, records: Iterable[CapabilityRecord]
) -> None:
    """Make the capability rows match the records, leaving equal rows untouched."""
    rows = {(row.kind, row.name): row for row in agent_type.capabilities.all()}
    to_create, to_update = [], []
    for record in records:
        row = rows.pop((record.kind, record.name), None)
        if row is None:
            to_create.append(Capability.from_record(agent_type, record))
        elif get_content(row) != get_content(record):
            row.description, row.properties = record.description, record.properties
            to_update.append(row)
    agent_type.capabilities.filter(pk__in=[row.pk for row in rows.values()]).delete()
    Capability.objects.bulk_update(
        to_update, ["description", "properties"], batch_size=200
    )
    Capability.objects.bulk_create(to_create, batch_size=500)


def reread_capabilities(agent_key: str) -> None:
    """Make the capability rows of an agent match what its stored definitions say.

    Rows written by an earlier version lack what only later versions read. This is no
    change of the agent: nothing is recorded or published.
    """
    with transaction.atomic():
        lock_agent(agent_key)
        entries = CatalogEntry.objects.filter(agent_key=agent_key)
        base_url = entries.values_list("source_url", flat=True).first() or ""
        for agent_type in AgentType.objects.filter(agent_key=agent_key):
            protocol, endpoint = agent_type.protocol, agent_type.endpoint
            if has_capability_merger(protocol):
                continue
            raw = agent_type.definition
            result = try_parse(raw, protocol, endpoint, base_url)
            if result.record is not None and result.is_valid:
                sync_capabilities(agent_type, result.record.capabilities)


def update_uncurated_fields(
    entry: CatalogEntry, previous_record: AgentRecord | None, record: AgentRecord
) -> bool:
    """Copy the fields that no editor has overridden; return whether any changed."""
    old_values = [getattr(entry, name) for name in CURATED_FIELDS]
    if previous_record is None:
        return False
    for name in CURATED_FIELDS:
        if getattr(entry, name) == getattr(previous_record, name):
            setattr(entry, name, getattr(record, name))
    return old_values != [getattr(entry, name) for name in CURATED_FIELDS]


def save_unchanged(entry: CatalogEntry, definition: Definition) -> None:
    """Save that the entry was seen, and its source if the definition was fetched."""
    fields = mark_seen(entry, definition)
    if definition.url:
        fields += set_source(entry, definition)
    save_seen(entry, EntryIngested(entry.pk, IngestOutcome.UNCHANGED), fields=fields)


def mark_seen(entry: CatalogEntry, definition: Definition) -> list[str]:
    """Set the last-seen time and the next probe time; return the field names."""
    if not definition.is_partial:
        entry.validity_last_seen = timezone.now()
    entry.next_probe_at = (
        get_next_probe_at(entry, definition) if entry.can_be_probed else None
    )
    return ["validity_last_seen", "next_probe_at"]


def set_source(entry: CatalogEntry, definition: Definition) -> list[str]:
    """Set where the entry's definition came from; return the field names."""
    entry.source = definition.source
    # An ETag is valid only for the bytes it was received with.
    entry.source_etag = definition.etag
    if definition.url not in ("", entry.source_url):
        entry.source_url, entry.probe_method = definition.url, ""
    entry.authorized = definition.authorized
    interval = add_jitter(conf.REFRESH_INTERVAL)
    entry.next_refresh_at = timezone.now() + interval
    entry.definition_problem = definition.incomplete_reason[:ERROR_LIMIT]
    return SOURCE_FIELDS


def get_next_probe_at(entry: CatalogEntry, definition: Definition) -> datetime:
    match definition.probe_timing:
        case ProbeTiming.BY_CALLER:
            return compute_lease_end()
        case ProbeTiming.ON_SCHEDULE if entry.next_probe_at:
            return entry.next_probe_at
    return timezone.now()

"""Writing of catalog entries: saves them, updates the index and publishes events.

Ingestion, curation, probes, import, demo and admin all write through these functions,
inside a transaction. Nothing else calls the indexer. Columns that only schedule work,
such as `next_probe_at`, and `definition_problem` are neither indexed nor published, and
may be updated directly.
"""

from collections.abc import Iterable, Mapping
from uuid import UUID

from ..events import EntryIngested, StateChanged, publish
from ..models import REACHABLE_STATUSES, CatalogEntry, Provider
from .indexer import index_entries

EntryEvent = EntryIngested | StateChanged


def save_entry(
    entry: CatalogEntry, *events: EntryEvent, fields: Iterable[str] | None = None
) -> None:
    """Save an entry, or only some of its fields, index it and publish the events."""
    entry.save(update_fields=fields)
    index_entries(CatalogEntry.objects.filter(pk=entry.pk))
    for event in events:
        publish(event)


def save_seen(
    entry: CatalogEntry, event: EntryIngested, fields: Iterable[str] | None = None
) -> None:
    """Save that an entry was seen without changes; the index stays as it is."""
    entry.save(update_fields=fields)
    publish(event)


def save_states(
    entries: Iterable[CatalogEntry],
    fields: list[str],
    previous_statuses: Mapping[UUID, str],
) -> None:
    """Save the health of entries and publish changes of their status.

    Entries that became reachable or unreachable are indexed.
    """
    changed = []
    for entry in entries:
        # Faster than `save`, which also handles inheritance and signals.
        values = {name: getattr(entry, name) for name in fields}
        CatalogEntry.objects.filter(pk=entry.pk).update(**values)
        if entry.status != previous_statuses[entry.pk]:
            changed.append(entry)
    ids_to_index = [
        entry.pk
        for entry in changed
        if has_reachability_changed(previous_statuses[entry.pk], entry.status)
    ]
    if ids_to_index:
        index_entries(CatalogEntry.objects.filter(pk__in=ids_to_index))
    for entry in changed:
        publish(build_state_changed(entry, previous_statuses[entry.pk]))


def save_provider(provider: Provider) -> None:
    """Save a provider and index its agents under the new name."""
    provider.save()
    index_entries(CatalogEntry.objects.filter(agent_type__provider=provider))


def has_reachability_changed(before: str, after: str) -> bool:
    """Return whether an agent became reachable or unreachable."""
    return (before in REACHABLE_STATUSES) != (after in REACHABLE_STATUSES)


def build_state_changed(entry: CatalogEntry, previous_status: str) -> StateChanged:
    return StateChanged(
        entry.pk,
        before=previous_status,
        after=entry.status,
        latency_ms=entry.latency_ms,
        error=entry.last_error,
    )

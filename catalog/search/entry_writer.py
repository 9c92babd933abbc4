"""The one place that writes catalog entries: it saves, indexes and publishes.

Ingestion, curation, probes, transfer, demo and admin all come here, inside a
transaction of theirs. Nothing else calls the indexer. Columns that only schedule work
(`next_probe_at` and the like) are neither searched nor published, and may be updated
where the work is claimed.
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
    """Save an entry, or these fields of it, index it and publish the events."""
    entry.save(update_fields=fields)
    index_entries(CatalogEntry.objects.filter(pk=entry.pk))
    for event in events:
        publish(event)


def save_seen(
    entry: CatalogEntry, event: EntryIngested, fields: Iterable[str] | None = None
) -> None:
    """Save that an unchanged entry was seen: nothing that is searched differs."""
    entry.save(update_fields=fields)
    publish(event)


def save_states(
    entries: Iterable[CatalogEntry], fields: list[str], before: Mapping[UUID, str]
) -> None:
    """Save what probes found; index and publish where that is another status.

    `before` holds the status that each entry had.
    """
    changed = []
    for entry in entries:
        # Quicker than `save`, which looks at much that cannot be here.
        values = {name: getattr(entry, name) for name in fields}
        CatalogEntry.objects.filter(pk=entry.pk).update(**values)
        if entry.status != before[entry.pk]:
            changed.append(entry)
    crossed = [e.pk for e in changed if crosses(before[e.pk], e.status)]
    if crossed:
        index_entries(CatalogEntry.objects.filter(pk__in=crossed))
    for entry in changed:
        publish(build_state_changed(entry, before[entry.pk]))


def save_provider(provider: Provider) -> None:
    """Save a provider, and index its agents under its new name."""
    provider.save()
    index_entries(CatalogEntry.objects.filter(agent_type__provider=provider))


def crosses(before: str, after: str) -> bool:
    """Whether an agent became reachable, or ceased to be."""
    return (before in REACHABLE_STATUSES) != (after in REACHABLE_STATUSES)


def build_state_changed(entry: CatalogEntry, before: str) -> StateChanged:
    return StateChanged(
        entry.pk, before, entry.status, entry.latency_ms, entry.last_error
    )

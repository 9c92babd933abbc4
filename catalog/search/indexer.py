"""Writing of the search index, which can be rebuilt from the catalog at any time."""

from collections.abc import Iterator
from itertools import islice
from typing import TypeVar
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, QuerySet

from capabilities.features import FEATURE_KIND
from capabilities.kinds import kinds

from ..models import REACHABLE_STATUSES, Capability, CatalogEntry, EntryText, SearchRow
from .fts import rebuild_text_index
from .normalize import SEPARATOR, fold, truncate_sort_key

INDEX_BATCH_SIZE = 200
T = TypeVar("T")


def index_entries(entries: QuerySet[CatalogEntry]) -> None:
    """Replace the index of these entries; call it in a transaction."""
    entries = entries.select_related("agent_type__provider")
    entries = entries.prefetch_related("agent_type__capabilities").order_by("pk")
    iterator = entries.iterator(chunk_size=INDEX_BATCH_SIZE)
    for batch in iter_batches(iterator, INDEX_BATCH_SIZE):
        index_batch(batch)


def rebuild_index() -> Iterator[int]:
    """Replace the whole index in batches; yield the number of entries in each."""
    with transaction.atomic():
        rebuild_text_index(connection)
        orphans = SearchRow.objects.exclude(capability__agent_type__entry=F("entry"))
        orphans.delete()
    entry_ids = list(CatalogEntry.objects.order_by("pk").values_list("pk", flat=True))
    for batch in iter_batches(iter(entry_ids), INDEX_BATCH_SIZE):
        with transaction.atomic():
            index_entries(lock_entries(batch))
        yield len(batch)


def lock_entries(entry_ids: list[UUID]) -> QuerySet[CatalogEntry]:
    """Lock the entries before they are read, so that their latest state is indexed."""
    entries = CatalogEntry.objects.filter(pk__in=entry_ids)
    # bool() runs the query.
    bool(entries.select_for_update().only("pk").order_by("pk"))
    return entries


def index_batch(entries: list[CatalogEntry]) -> None:
    EntryText.objects.bulk_create(
        [build_entry_text(entry) for entry in entries],
        update_conflicts=True,
        unique_fields=["entry"],
        update_fields=["name", "text", "categories"],
    )
    SearchRow.objects.filter(entry__in=entries).delete()
    rows = (row for entry in entries for row in iter_search_rows(entry))
    SearchRow.objects.bulk_create(rows, batch_size=500)


def iter_batches(items: Iterator[T], size: int) -> Iterator[list[T]]:
    # itertools.batched needs Python 3.12.
    while batch := list(islice(items, size)):
        yield batch


def iter_search_rows(entry: CatalogEntry) -> Iterator[SearchRow]:
    """Yield a row for each capability if the agent is reachable."""
    if entry.status not in REACHABLE_STATUSES:
        return
    entry_name = truncate_sort_key(fold(entry.display_name))
    for capability in entry.agent_type.capabilities.all():
        yield SearchRow(
            capability=capability,
            entry=entry,
            kind=capability.kind,
            name=truncate_sort_key(fold(capability.name)),
            entry_name=entry_name,
            text=SEPARATOR.join(map(fold, iter_capability_texts(capability))),
        )


def build_entry_text(entry: CatalogEntry) -> EntryText:
    text = SEPARATOR.join(fold(text) for text in iter_entry_texts(entry))
    categories = "".join(f"{fold(name)}{SEPARATOR}" for name in entry.categories)
    return EntryText(
        entry=entry,
        name=truncate_sort_key(fold(entry.display_name)),
        text=text,
        categories=SEPARATOR + categories,
    )


def iter_entry_texts(entry: CatalogEntry) -> Iterator[str]:
    agent_type = entry.agent_type
    yield from (entry.display_name, entry.description, agent_type.endpoint)
    yield from entry.categories
    if agent_type.provider:
        yield from (agent_type.provider.organization, agent_type.provider.team)
    for capability in agent_type.capabilities.all():
        yield from iter_capability_texts(capability)


def iter_capability_texts(capability: Capability) -> Iterator[str]:
    """Yield the name, the description and the search properties of the kind."""
    if (
        capability.properties.get("value") is False
        and capability.kind == FEATURE_KIND.slug
    ):
        # A search for a feature must not find agents that declare not to have it.
        return
    yield from (capability.name, capability.description)
    kind = kinds.get(capability.kind)
    for key in kind.search_properties if kind else ():
        value = capability.properties.get(key)
        values = value if isinstance(value, list) else [value]
        yield from (text for text in values if isinstance(text, str))

"""Writing what is searched; an index, and never a second truth."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, QuerySet

from capabilities.features import FEATURE
from capabilities.kinds import kinds

from ..models import REACHABLE_STATUSES, Capability, CatalogEntry, EntryText, SearchRow
from .fts import rebuild_text_index
from .normalize import SEPARATOR, fold, sort_key

CHUNK = 200
T = TypeVar("T")


def index_entries(entries: QuerySet[CatalogEntry]) -> None:
    """Write anew what is searched of these entries; call it in the transaction."""
    entries = entries.select_related("agent_type__provider")
    entries = entries.prefetch_related("agent_type__capabilities").order_by("pk")
    for chunk in batched(entries.iterator(chunk_size=CHUNK), CHUNK):
        index_chunk(chunk)


def rebuild_index() -> Iterator[int]:
    """Write it all anew, chunk by chunk; tells of each how many entries it held."""
    with transaction.atomic():
        rebuild_text_index(connection)
        orphans = SearchRow.objects.exclude(capability__agent_type__entry=F("entry"))
        orphans.delete()
    keys = list(CatalogEntry.objects.order_by("pk").values_list("pk", flat=True))
    for chunk in batched(iter(keys), CHUNK):
        with transaction.atomic():
            index_entries(locked(chunk))
        yield len(chunk)


def locked(keys: list[UUID]) -> QuerySet[CatalogEntry]:
    """These entries, while no other writer has hold of them."""
    entries = CatalogEntry.objects.filter(pk__in=keys)
    # Looked at before they are read: what is indexed is what the others left.
    bool(entries.select_for_update().only("pk").order_by("pk"))
    return entries


def index_chunk(entries: Iterable[CatalogEntry]) -> None:
    EntryText.objects.bulk_create(
        [entry_text(entry) for entry in entries],
        update_conflicts=True,
        unique_fields=["entry"],
        update_fields=["name", "text", "categories"],
    )
    SearchRow.objects.filter(entry__in=entries).delete()
    rows = (row for entry in entries for row in search_rows(entry))
    SearchRow.objects.bulk_create(rows, batch_size=500)


def batched(items: Iterator[T], size: int) -> Iterator[list[T]]:
    while chunk := list(islice(items, size)):
        yield chunk


def search_rows(entry: CatalogEntry) -> Iterator[SearchRow]:
    """A row for each capability, while the agent can be reached."""
    if entry.status not in REACHABLE_STATUSES:
        return
    entry_name = sort_key(fold(entry.display_name))
    for capability in entry.agent_type.capabilities.all():
        yield SearchRow(
            capability=capability,
            entry=entry,
            kind=capability.kind,
            name=sort_key(fold(capability.name)),
            entry_name=entry_name,
            text=SEPARATOR.join(map(fold, capability_texts(capability))),
        )


def entry_text(entry: CatalogEntry) -> EntryText:
    fields = SEPARATOR.join(fold(text) for text in searched_texts(entry))
    categories = "".join(f"{fold(name)}{SEPARATOR}" for name in entry.categories)
    return EntryText(
        entry=entry,
        name=sort_key(fold(entry.display_name)),
        text=fields,
        categories=SEPARATOR + categories,
    )


def searched_texts(entry: CatalogEntry) -> Iterator[str]:
    agent_type = entry.agent_type
    yield from (entry.display_name, entry.description, agent_type.endpoint)
    yield from entry.categories
    if agent_type.provider:
        yield from (agent_type.provider.organization, agent_type.provider.team)
    for capability in agent_type.capabilities.all():
        yield from capability_texts(capability)


def capability_texts(capability: Capability) -> Iterable[str]:
    """Name, description and the values its kind calls searched; never JSON keys."""
    if capability.properties.get("value") is False and capability.kind == FEATURE.slug:
        # Nobody who looks for it wants those who say that they do not have it.
        return
    yield from (capability.name, capability.description)
    kind = kinds.get(capability.kind)
    for key in kind.search_properties if kind else ():
        value = capability.properties.get(key)
        values = value if isinstance(value, list) else [value]
        yield from (text for text in values if isinstance(text, str))

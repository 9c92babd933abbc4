"""Finding entries by what they say: fold, index, ask."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from django.db.models import QuerySet, Value
from django.db.models.functions import StrIndex
from django.db.models.lookups import GreaterThan

from capabilities.kinds import kinds

from .models import Capability, CatalogEntry, EntryText

# Between the fields of a text, so that a phrase never runs from one into the next.
SEPARATOR = "\x1f"
# The look ahead keeps it linear: an endless query must not be an endless search.
TERM = re.compile(r'"(?=\s*[^"\s])([^"]+)"|(\S+)')
# Each term is a condition, and a database takes only so many.
QUERY_LIMIT = 1_000


def fold(text: str) -> str:
    """One spelling for what people take for the same: Łódź, ŁÓDŹ; Straße, STRASSE."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = unicodedata.normalize("NFC", folded)
    folded = folded.replace("i\u0307", "i").replace("\u0131", "i")
    return folded.replace(SEPARATOR, " ")


def terms(query: str) -> list[str]:
    """Words and "quoted phrases", folded; a lone quote is an ordinary character."""
    found = (phrase or word for phrase, word in TERM.findall(fold(query)))
    return list(dict.fromkeys(found))


def matching(entries: QuerySet[CatalogEntry], query: str) -> QuerySet[CatalogEntry]:
    """Keep entries in whose text every term occurs."""
    for term in terms(query):
        place = StrIndex("text__text", Value(term))
        entries = entries.filter(GreaterThan(place, Value(0)))
    return entries


def in_category(
    entries: QuerySet[CatalogEntry], category: str
) -> QuerySet[CatalogEntry]:
    """Keep entries of one category, whatever its case."""
    whole = f"{SEPARATOR}{fold(category)}{SEPARATOR}"
    place = StrIndex("text__categories", Value(whole))
    return entries.filter(GreaterThan(place, Value(0)))


def index(entries: QuerySet[CatalogEntry]) -> None:
    """Write anew what is searched of these entries; call it in the transaction."""
    entries = entries.select_related("agent_type__provider")
    entries = entries.prefetch_related("agent_type__capabilities")
    EntryText.objects.bulk_create(
        (entry_text(entry) for entry in entries.iterator(chunk_size=200)),
        batch_size=200,
        update_conflicts=True,
        unique_fields=["entry"],
        update_fields=["name", "text", "categories"],
    )


def entry_text(entry: CatalogEntry) -> EntryText:
    fields = SEPARATOR.join(fold(text) for text in searched_texts(entry))
    categories = "".join(f"{fold(name)}{SEPARATOR}" for name in entry.categories)
    return EntryText(
        entry=entry,
        name=fold(entry.display_name),
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
    yield from (capability.name, capability.description)
    kind = kinds.get(capability.kind)
    for key in kind.searched if kind else ():
        value = capability.properties.get(key)
        values = value if isinstance(value, list) else [value]
        yield from (text for text in values if isinstance(text, str))

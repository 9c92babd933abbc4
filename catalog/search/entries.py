"""Search filters for catalog entries."""

from django.db.models import QuerySet, Value
from django.db.models.functions import StrIndex
from django.db.models.lookups import GreaterThan

from ..models import CatalogEntry
from .normalize import SEPARATOR, fold, parse_terms


def filter_matching(
    entries: QuerySet[CatalogEntry], query: str
) -> QuerySet[CatalogEntry]:
    """Keep entries whose text contains every term of the query."""
    for term in parse_terms(query):
        position = StrIndex("text__text", Value(term))
        entries = entries.filter(GreaterThan(position, Value(0)))
    return entries


def filter_category(
    entries: QuerySet[CatalogEntry], category: str
) -> QuerySet[CatalogEntry]:
    """Keep entries of a category, ignoring case."""
    term = f"{SEPARATOR}{fold(category)}{SEPARATOR}"
    position = StrIndex("text__categories", Value(term))
    return entries.filter(GreaterThan(position, Value(0)))

"""Which entries say it."""

from django.db.models import QuerySet, Value
from django.db.models.functions import StrIndex
from django.db.models.lookups import GreaterThan

from ..models import CatalogEntry
from .normalize import SEPARATOR, fold, parse_terms


def filter_matching(
    entries: QuerySet[CatalogEntry], query: str
) -> QuerySet[CatalogEntry]:
    """Keep entries in whose text every term occurs."""
    for term in parse_terms(query):
        place = StrIndex("text__text", Value(term))
        entries = entries.filter(GreaterThan(place, Value(0)))
    return entries


def filter_category(
    entries: QuerySet[CatalogEntry], category: str
) -> QuerySet[CatalogEntry]:
    """Keep entries of one category, whatever its case."""
    whole = f"{SEPARATOR}{fold(category)}{SEPARATOR}"
    place = StrIndex("text__categories", Value(whole))
    return entries.filter(GreaterThan(place, Value(0)))

"""Filters for entries and capabilities, shared by the web pages and the API."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import F, QuerySet
from django.db.models.expressions import OrderBy
from django_filters import rest_framework as filters
from django_filters.fields import MultipleChoiceField

from capabilities.features import (
    FEATURE_KIND,
    is_agent_defined,
    is_valid_feature_name,
)
from capabilities.kinds import discoverable_kinds, kind_choices
from capabilities.parsers import list_defined_features, protocol_choices
from capabilities.records import CAPABILITY_NAME_LIMIT
from capabilities.spellings import normalize_feature_name

from . import search
from .models import Capability, CatalogEntry, CatalogEntryQuerySet, Source, Status

ENTRY_ORDERINGS: dict[str, tuple[str | OrderBy, ...]] = {
    "displayName_asc": ("text__name", "id"),
    "createdAt_desc": ("-created_at", "id"),
    "lastSuccessAt_desc": (F("last_success_at").desc(nulls_last=True), "id"),
}
ENTRY_SORTS = [
    ("displayName_asc", "Name"),
    ("createdAt_desc", "Newest first"),
    ("lastSuccessAt_desc", "Last successful probe"),
]
# Each feature adds a subquery, and databases limit their number.
FEATURE_LIMIT = 20


class CapabilitySearchForm(forms.Form):
    """Validates the parameters of a capability search."""

    help_texts = {
        "q": "Search terms, all of which must occur in the name, description or tags."
        " Double quotes group words into a phrase.",
        "kind": "A discoverable kind, such as `a2a.skill`.",
        "sort": "Sort order.",
    }

    q = forms.CharField(required=False, max_length=search.QUERY_LIMIT, strip=False)
    kind = forms.ChoiceField(required=False)
    sort = forms.ChoiceField(required=False, choices=search.SORTS)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        slugs = discoverable_kinds()
        field = cast(forms.ChoiceField, self.fields["kind"])
        field.choices = [(slug, slug) for slug in slugs]
        message = f"%(value)s is not one of: {', '.join(slugs)}."
        field.error_messages["invalid_choice"] = message

    def search_query(self) -> search.SearchQuery:
        """Return the search query; invalid values are ignored."""
        self.is_valid()
        values = {name: value for name, value in self.cleaned_data.items() if value}
        return search.SearchQuery(**values)


class CommaSeparatedChoiceFilter(filters.BaseInFilter, filters.ChoiceFilter):
    """Matches any choice of a comma-separated list."""

    def filter(
        self, entries: CatalogEntryQuerySet, value: list[str] | None
    ) -> CatalogEntryQuerySet:
        choices = [choice for choice in value or [] if choice]
        filtered: CatalogEntryQuerySet = super().filter(entries, choices)
        return filtered


class RepeatedChoiceField(MultipleChoiceField):
    """Choices from a repeatable parameter; empty values are ignored."""

    def to_python(self, value: Any) -> list[str]:
        return [choice for choice in super().to_python(value) if choice]


class RepeatedChoiceFilter(filters.MultipleChoiceFilter):
    """Matches any choice of a repeatable parameter."""

    field_class = RepeatedChoiceField


class FeatureNamesField(forms.Field):
    """Feature names in any spelling, from a repeatable parameter."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: Any) -> list[str]:
        text_field = forms.CharField(
            required=False, strip=False, max_length=CAPABILITY_NAME_LIMIT
        )
        names = [name for name in map(text_field.clean, value or []) if name]
        if len(names) > FEATURE_LIMIT:
            raise ValidationError(f"May be given at most {FEATURE_LIMIT} times.")
        unknown = next((name for name in names if not is_feature_name(name)), None)
        if unknown is not None:
            raise ValidationError(describe_unknown_feature(unknown))
        return [normalize_feature_name(name) for name in names]


def is_feature_name(text: str) -> bool:
    """Return whether a feature can have this name, in any spelling."""
    is_storable = len(text) <= CAPABILITY_NAME_LIMIT and "\0" not in text
    return is_storable and is_valid_feature_name(normalize_feature_name(text))


def find_undeclared_features(names: Iterable[str]) -> list[str]:
    """Return the names that no protocol defines and no current agent declares.

    Names below `custom` are never returned: agents define them. All names are valid
    feature names. At most one query is made, none if protocols define all names.
    """
    defined = list_defined_features()
    by_name = {name: normalize_feature_name(name) for name in names}
    undefined = {
        name
        for name in by_name.values()
        if name not in defined and not is_agent_defined(name)
    }
    if not undefined:
        return []
    features = Capability.objects.in_use().filter(kind=FEATURE_KIND.slug)
    declared = features.filter(name__in=undefined).order_by().values_list("name")
    undefined -= {name for (name,) in declared.distinct()}
    return [name for name, normalized in by_name.items() if normalized in undefined]


def describe_unknown_feature(name: str) -> str:
    message = f"There is no feature {name[:100]!r}."
    similar = get_close_matches(name, list_defined_features(), n=1, cutoff=0.8)
    return f"{message} Did you mean {similar[0]!r}?" if similar else message


class FeatureFilter(filters.Filter):
    """Matches entries that declare every given feature."""

    field_class = FeatureNamesField


class CatalogEntryFilterSet(filters.FilterSet):
    """Translates query parameters into calls of querysets and search."""

    q = filters.CharFilter(
        method="filter_q",
        max_length=search.QUERY_LIMIT,
        label="Search",
        help_text="Search terms, all of which must occur in the name, description,"
        " endpoint, categories, provider or capabilities. Double quotes group words"
        " into a phrase.",
    )
    protocol = filters.ChoiceFilter(
        field_name="agent_type__protocol",
        choices=protocol_choices,
        label="Protocol",
        help_text="Only entries with this protocol.",
    )
    status = CommaSeparatedChoiceFilter(
        choices=Status.choices,
        label="Status",
        help_text="Only entries with one of these statuses, separated by commas.",
    )
    kind = RepeatedChoiceFilter(
        choices=kind_choices,
        method="filter_kind",
        label="Offers",
        help_text="Only entries that offer a capability of this kind. May be repeated:"
        " one matching kind is enough.",
    )
    feature = FeatureFilter(
        method="filter_feature",
        label="Declares",
        help_text="Only entries that declare this feature, such as"
        " `transport.streaming`, with a value other than false. May be repeated: every"
        " feature must match. Features that neither a protocol defines nor any agent"
        " declares are rejected.",
    )
    provider = filters.CharFilter(
        field_name="agent_type__provider__organization",
        label="Provider",
        help_text="Only entries of the organization with exactly this name.",
    )
    category = filters.CharFilter(
        method="filter_category",
        label="Category",
        help_text="Only entries in this category; case is ignored.",
    )
    source = filters.ChoiceFilter(
        choices=Source.choices,
        label="Source",
        help_text="Only entries from this source.",
    )
    sort = filters.ChoiceFilter(
        choices=ENTRY_SORTS,
        method="filter_sort",
        label="Sort",
        empty_label=None,
        help_text="Sort order. The default is by name.",
    )

    class Meta:
        model = CatalogEntry
        fields: list[str] = []

    def filter_queryset(self, queryset: CatalogEntryQuerySet) -> CatalogEntryQuerySet:
        by_name = queryset.order_by(*ENTRY_ORDERINGS["displayName_asc"])
        filtered: CatalogEntryQuerySet = super().filter_queryset(by_name)
        return filtered

    def filter_q(
        self, entries: CatalogEntryQuerySet, name: str, value: str
    ) -> QuerySet[CatalogEntry]:
        return search.filter_matching(entries, value)

    def filter_kind(
        self, entries: CatalogEntryQuerySet, name: str, value: list[str]
    ) -> CatalogEntryQuerySet:
        return entries.offering(*value) if value else entries

    def filter_feature(
        self, entries: CatalogEntryQuerySet, name: str, value: list[str]
    ) -> CatalogEntryQuerySet:
        for feature in value:
            entries = entries.declaring(feature)
        return entries

    def filter_category(
        self, entries: CatalogEntryQuerySet, name: str, value: str
    ) -> QuerySet[CatalogEntry]:
        return search.filter_category(entries, value)

    def filter_sort(
        self, entries: CatalogEntryQuerySet, name: str, value: str
    ) -> CatalogEntryQuerySet:
        return entries.order_by(*ENTRY_ORDERINGS[value])


class StrictEntryFilterSet(CatalogEntryFilterSet):
    """Also rejects features that no protocol defines and no agent declares."""

    def is_valid(self) -> bool:
        if not super().is_valid():
            return False
        undeclared = find_undeclared_features(self.form.cleaned_data["feature"] or [])
        if undeclared:
            self.form.add_error("feature", describe_unknown_feature(undeclared[0]))
        return not undeclared

"""The questions one may ask of the catalog, on the web and over the API alike."""

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import F
from django_filters import rest_framework as filters
from django_filters.fields import MultipleChoiceField

from capabilities.features import may_be_declared
from capabilities.kinds import discoverable_kinds, kind_choices
from capabilities.parsers import protocol_choices
from capabilities.records import NAME_LIMIT
from capabilities.spellings import standard_name

from . import search
from .models import CatalogEntry, Source, Status

ORDERS = {
    "displayName_asc": ("text__name", "id"),
    "createdAt_desc": ("-created_at", "id"),
    "lastSuccessAt_desc": (F("last_success_at").desc(nulls_last=True), "id"),
}
SORTS = [
    ("displayName_asc", "Name"),
    ("createdAt_desc", "Newest first"),
    ("lastSuccessAt_desc", "Last seen alive"),
]


# Each is a condition of its own, and a database takes only so many.
FEATURE_LIMIT = 20


class CapabilityQuestion(forms.Form):
    """The questions one may ask of capabilities, on the web and over the API alike."""

    help = {
        "q": "Words that must all occur in name, description or tags;"
        " double quotes keep a phrase together.",
        "kind": "A discoverable kind, such as `a2a.skill`.",
    }

    q = forms.CharField(required=False, max_length=search.QUERY_LIMIT, strip=False)
    kind = forms.ChoiceField(required=False)
    sort = forms.ChoiceField(required=False, choices=search.SORTS)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        known = discoverable_kinds()
        self.fields["kind"].choices = [(kind, kind) for kind in known]
        words = f"%(value)s is not one of: {', '.join(known)}."
        self.fields["kind"].error_messages["invalid_choice"] = words

    def question(self) -> search.Question:
        """What was asked; where a value makes no sense, as if it were not there."""
        self.is_valid()
        asked = {name: value for name, value in self.cleaned_data.items() if value}
        return search.Question(**asked)


class AnyOfFilter(filters.BaseInFilter, filters.ChoiceFilter):
    """A comma-separated list of choices, any of which will do."""

    def filter(self, entries, value):
        return super().filter(entries, [choice for choice in value or [] if choice])


class ChoicesField(MultipleChoiceField):
    """Choices from a parameter given any number of times; empty ones are absent."""

    def to_python(self, value):
        return [choice for choice in super().to_python(value) if choice]


class SomeOfFilter(filters.MultipleChoiceFilter):
    """A choice given any number of times, any of which will do."""

    field_class = ChoicesField


class TextsField(forms.Field):
    """Any number of texts, from a parameter given any number of times."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value):
        clean = forms.CharField(
            required=False, strip=False, max_length=NAME_LIMIT
        ).clean
        texts = [text for text in map(clean, value or []) if text]
        if len(texts) > FEATURE_LIMIT:
            raise ValidationError(f"May be given at most {FEATURE_LIMIT} times.")
        return texts


class FeaturesField(TextsField):
    """Names of features, in any spelling."""

    def to_python(self, value):
        texts = super().to_python(value)
        unknown = next((text for text in texts if not is_feature(text)), None)
        if unknown is not None:
            raise ValidationError(f"There is no feature {unknown[:100]!r}.")
        return [standard_name(text) for text in texts]


def is_feature(text: str) -> bool:
    return len(text) <= NAME_LIMIT and may_be_declared(standard_name(text))


class FeaturesFilter(filters.Filter):
    """Features, each of which must be declared."""

    field_class = FeaturesField


class CatalogEntryFilterSet(filters.FilterSet):
    """Asks the catalog; what a question means is said by querysets and search."""

    q = filters.CharFilter(
        method="filter_q",
        max_length=search.QUERY_LIMIT,
        label="Search",
        help_text="Words that must all occur in the name, description, endpoint,"
        " categories, provider or capabilities; double quotes keep a phrase together.",
    )
    protocol = filters.ChoiceFilter(
        field_name="agent_type__protocol", choices=protocol_choices, label="Protocol"
    )
    status = AnyOfFilter(
        choices=Status.choices,
        label="Status",
        help_text="One or more, comma-separated.",
    )
    kind = SomeOfFilter(
        choices=kind_choices,
        method="filter_kind",
        label="Offers",
        help_text="Entries with a capability of this kind, or of any given.",
    )
    feature = FeaturesFilter(
        method="filter_feature",
        label="Declares",
        help_text="A feature such as `transport.streaming` that is declared, and not as"
        " false; repeat for more.",
    )
    provider = filters.CharFilter(
        field_name="agent_type__provider__organization",
        label="Provider",
        help_text="The organisation's exact name.",
    )
    category = filters.CharFilter(method="filter_category", label="Category")
    source = filters.ChoiceFilter(choices=Source.choices, label="Source")
    sort = filters.ChoiceFilter(
        choices=SORTS, method="filter_sort", label="Sort", empty_label=None
    )

    class Meta:
        model = CatalogEntry
        fields = []

    def filter_queryset(self, queryset):
        by_name = queryset.order_by(*ORDERS["displayName_asc"])
        return super().filter_queryset(by_name)

    def filter_q(self, entries, name, value: str):
        return search.matching(entries, value)

    def filter_kind(self, entries, name, value: list[str]):
        return entries.offering(*value) if value else entries

    def filter_feature(self, entries, name, value: list[str]):
        for feature in value:
            entries = entries.declaring(feature)
        return entries

    def filter_category(self, entries, name, value: str):
        return search.in_category(entries, value)

    def filter_sort(self, entries, name, value: str):
        return entries.order_by(*ORDERS[value])

from typing import Any, TypedDict
from uuid import UUID

from django.core.paginator import Page, Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from capabilities.features import FEATURE_LABELS, FLAG_LABELS
from capabilities.parsers import get_connection, parsers

from ...comparison import (
    MAX_AGENTS,
    SELECTED_PARAMETER,
    ComparedAgent,
    get_selected_entries,
    iter_feature_sections,
)
from ...filters import (
    ENTRY_SORTS,
    FEATURE_LIMIT,
    CatalogEntryFilterSet,
    find_undeclared_features,
    is_feature_name,
)
from ...health import History
from ...models import AgentType, Capability, CatalogEntry, Status
from ..access import require_view_permission
from ..htmx import wants_partial
from .health import HealthPanel

ENTRIES_PER_PAGE = 24
MAX_VERSIONS = 100
# The latest changes whose fields are shown, of all versions.
DETAILED_CHANGES = 10
# Filters without a control on the page: links set them, and a badge removes them.
LINK_FILTERS = ("kind", "provider", "category", "source")
FILTERS = ("q", "protocol", "status", "feature", *LINK_FILTERS)


class FilterChoice(TypedDict):
    value: str
    label: str
    count: int


class FeatureChoice(FilterChoice):
    is_selected: bool


@require_safe
@require_view_permission
@vary_on_headers("HX-Request")
def entry_list(request: HttpRequest) -> HttpResponse:
    """Search and filter the catalog; htmx gets only the results."""
    parameters, rejected_features = drop_rejected_features(request.GET)
    entries = CatalogEntry.objects.for_display()
    filterset = CatalogEntryFilterSet(parameters, queryset=entries)
    paginator = Paginator(filterset.qs, ENTRIES_PER_PAGE)
    page = paginator.get_page(parameters.get("page"))
    protocols = count_choices(
        parameters, "protocol", "agent_type__protocol", parsers.choices()
    )
    statuses = count_choices(parameters, "status", "status", Status.choices)
    context = {
        "tab": "catalog",
        "query": parameters.get("q", ""),
        "parameters": parameters,
        "rejected_features": rejected_features,
        "page": page,
        "protocols": protocols,
        "statuses": statuses,
        "features": build_feature_choices(filterset, paginator.count),
        **build_selection_context(parameters, page),
        "protocol_total": sum(choice["count"] for choice in protocols),
        "status_total": sum(choice["count"] for choice in statuses),
        "sorts": ENTRY_SORTS,
        "link_filters": build_link_filters(parameters),
        "is_filtered": any(parameters.get(name) for name in FILTERS),
    }
    template = "catalog/entry_list.html"
    if wants_partial(request):
        template = "catalog/_entry_results.html"
    return render(request, template, context)


def drop_rejected_features(parameters: QueryDict) -> tuple[QueryDict, list[str]]:
    """Return the parameters without rejected features, and the rejected features.

    Rejected are unknown features, and those beyond FEATURE_LIMIT.
    """
    names = [name for name in parameters.getlist("feature") if name]
    accepted = [name for name in names if is_feature_name(name)][:FEATURE_LIMIT]
    undeclared = find_undeclared_features(accepted)
    accepted = [name for name in accepted if name not in undeclared]
    if accepted == names:
        return parameters, []
    remaining = parameters.copy()
    remaining.setlist("feature", accepted)
    return remaining, [name for name in names if name not in accepted]


def build_selection_context(
    parameters: QueryDict, page: Page[CatalogEntry]
) -> dict[str, Any]:
    """Return the context of the entries selected for comparison, on any page."""
    entries = get_selected_entries(parameters)
    ids_on_page = {entry.pk for entry in page}
    ids = [str(entry.pk) for entry in entries]
    return {
        "selection": [
            {
                "entry": entry,
                "is_on_other_page": entry.pk not in ids_on_page,
                "remaining_query": build_query_without(
                    parameters, SELECTED_PARAMETER, str(entry.pk)
                ),
            }
            for entry in entries
        ],
        "selected_ids": [entry.pk for entry in entries],
        "selection_query": urlencode({SELECTED_PARAMETER: ids}, doseq=True),
        "is_selection_full": len(entries) == MAX_AGENTS,
    }


def build_query_without(parameters: QueryDict, name: str, value: str) -> str:
    """Return the query string without one value of a parameter."""
    remaining = parameters.copy()
    kept_values = [kept for kept in parameters.getlist(name) if kept != value]
    remaining.setlist(name, kept_values)
    return remaining.urlencode()


def count_choices(
    parameters: QueryDict, name: str, field: str, choices: list[tuple[str, str]]
) -> list[FilterChoice]:
    """Count the entries for each choice of a filter, with all other filters applied."""
    other_filters = parameters.copy()
    other_filters.pop(name, None)
    entries = CatalogEntryFilterSet(
        other_filters, queryset=CatalogEntry.objects.all()
    ).qs
    counts = dict(entries.order_by().values_list(field).annotate(Count("pk")))
    return [
        {"value": value, "label": label, "count": counts.get(value, 0)}
        for value, label in choices
    ]


def build_feature_choices(
    filterset: CatalogEntryFilterSet, total: int
) -> list[FeatureChoice]:
    """Return the selected features, and the standard flags that the entries declare.

    `total` is the number of filtered entries.
    """
    selected = filterset.form.cleaned_data.get("feature") or []
    names = dict.fromkeys([*FLAG_LABELS, *selected])
    declarations = Capability.objects.declaring_features(names).filter(
        agent_type__entry__in=filterset.qs.order_by()
    )
    counts = dict(declarations.order_by().values_list("name").annotate(Count("pk")))
    # Every filtered entry has the selected features, including those that follow from
    # its capabilities without being declared, such as `tools.items`.
    counts |= dict.fromkeys(selected, total)
    return [
        {
            "value": name,
            "label": FEATURE_LABELS.get(name, name),
            "count": counts.get(name, 0),
            "is_selected": name in selected,
        }
        for name in names
        if counts.get(name) or name in selected
    ]


def build_link_filters(parameters: QueryDict) -> list[dict[str, str]]:
    """Return the active filters of `LINK_FILTERS`, with the query to remove each."""
    first_page = parameters.copy()
    first_page.pop("page", None)
    return [
        {
            "name": name,
            "value": value,
            "remaining_query": build_query_without(first_page, name, value),
        }
        for name in LINK_FILTERS
        for value in parameters.getlist(name)
        if value
    ]


@require_safe
@require_view_permission
def entry_detail(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Show one agent: capabilities, features, connection, health and versions."""
    entries = CatalogEntry.objects.select_related("agent_type__provider")
    entry = entries.filter(pk=pk).first()
    if entry is None:
        raise Http404("No agent with this ID is in the catalog.")
    agent_type = entry.agent_type
    capabilities = list(agent_type.capabilities.all())
    agent = ComparedAgent.from_entry(entry, capabilities)
    context = {
        "tab": "catalog",
        "entry": entry,
        "agent_type": agent_type,
        "discoverable": [row for row in capabilities if row.discoverable],
        "technical": [row for row in capabilities if not row.discoverable],
        "connection": get_connection(
            agent_type.definition,
            agent_type.protocol,
            agent_type.endpoint,
            entry.source_url,
        ),
        "versions": list_versions(entry),
        "health": HealthPanel(History.for_entry(entry)),
        "feature_sections": list(iter_feature_sections([agent])),
        "definition": agent_type.definition.decode(errors="replace"),
    }
    return render(request, "catalog/entry_detail.html", context)


def list_versions(entry: CatalogEntry) -> list[AgentType]:
    """Return the versions of an agent; `with_details` marks its latest changes."""
    rows = AgentType.objects.versions_for(entry).defer("raw_definition")
    versions = list(rows[:MAX_VERSIONS])
    changes: list[Any] = [
        change for version in versions for change in version.changes.all()
    ]
    changes.sort(key=lambda change: change.recorded_at, reverse=True)
    for index, change in enumerate(changes):
        change.with_details = index < DETAILED_CHANGES
    return versions

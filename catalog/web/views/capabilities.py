from collections.abc import Iterable

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from capabilities.kinds import discoverable_kinds, kinds

from ... import search
from ...filters import CapabilitySearchForm
from ...models import Capability, split_key
from ..access import require_view_permission
from ..htmx import wants_partial
from .grouping import CapabilityGroup, ResultRow, group_rows
from .paging import Window


@require_safe
@require_view_permission
@vary_on_headers("HX-Request")
def capability_list(request: HttpRequest) -> HttpResponse:
    """Search capabilities; htmx gets only the results."""
    search_query = CapabilitySearchForm(request.GET).search_query()
    window = Window.from_parameters(request.GET)
    page, window = search_in_window(search_query, window)
    kind_labels = dict(kinds.choices())
    kind_counts = search.count_by_kind(search_query.q)
    context = {
        "tab": "capabilities",
        "query": search_query.q,
        "selected_kind": search_query.kind,
        "selected_sort": search_query.sort,
        "total": page.total,
        "groups": build_groups(search_query, window, page.items),
        "window": window,
        "kinds": [
            {"value": slug, "label": kind_labels[slug], "count": count}
            for slug, count in kind_counts.items()
        ],
        "kind_total": sum(kind_counts.values()),
        "sorts": search.SORTS,
        "is_filtered": bool(search_query.q or search_query.kind),
    }
    template = "catalog/capability_list.html"
    if wants_partial(request):
        template = "catalog/_capability_results.html"
    return render(request, template, context)


def build_groups(
    search_query: search.SearchQuery, window: Window, items: list[ResultRow]
) -> list[CapabilityGroup]:
    """Group the results in a window, given with those before and after it."""
    previous, rows, following = window.split_items(items)
    groups = group_rows(rows, previous)
    if search_query.sort == search.NAME_SORT:
        count_cut_groups(search_query, groups, [previous, following])
    else:
        # Sorted by agent, any group may have further agents on other pages.
        for group in groups:
            group.may_be_cut = window.needs_paging
    return groups


def count_cut_groups(
    search_query: search.SearchQuery,
    groups: list[CapabilityGroup],
    neighbors: Iterable[ResultRow | None],
) -> None:
    """Set the totals of groups that have agents on other pages, with two queries.

    The results are sorted by capability, so only the first and the last group can be
    cut, and groups whose names differ from theirs only in case. `neighbors` are the
    results before and after the page.
    """
    rows = [row for row in neighbors if row]
    for key in {search.get_sort_key(row["name"], row["kind"]) for row in rows}:
        cut = [
            group
            for group in groups
            if search.get_sort_key(group.name, group.kind) == key
        ]
        if cut:
            names = [group.name for group in cut]
            totals = search.count_agents(search_query, cut[0].kind, names)
            for group in cut:
                group.total = totals[group.name]


def search_in_window(
    search_query: search.SearchQuery, window: Window
) -> tuple[search.SearchPage, Window]:
    """Return the results in a window, with those before and after it, and the window.

    If the window is beyond the last page, return those of the last page.
    """
    start = max(0, window.start - 1)
    page = search.search_capabilities(search_query, window.size + 2, start)
    window = window.with_total(page.total)
    if window.page > window.last_page:
        return search_in_window(search_query, Window(window.last_page))
    return page, window


@require_safe
@require_view_permission
def capability_detail(request: HttpRequest, key: str) -> HttpResponse:
    """Show all agents with a capability, with any status."""
    kind, name = split_key(key) or ("", key)
    capabilities = list(Capability.objects.current_offers(kind, name))
    if kind not in discoverable_kinds() or not capabilities:
        raise Http404(f"No agent offers {name}.")
    context = {
        "tab": "capabilities",
        "kind": kind,
        "name": name,
        "capabilities": capabilities,
    }
    return render(request, "catalog/capability_detail.html", context)

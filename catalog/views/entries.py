from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from capabilities.parsers import connection_of, parsers

from ..filters import SORTS, CatalogEntryFilterSet
from ..htmx import wants_partial
from ..intake import pause_left, probe_now
from ..models import AgentType, CatalogEntry, Status, capability_count
from .access import curator, reader

PAGE_SIZE = 24
# Asked by links from elsewhere, and shown as filters that can be taken away.
BY_LINK = ("kind", "feature", "provider", "category", "source")
ASKED = ("q", "protocol", "status", *BY_LINK)


@require_safe
@reader
@vary_on_headers("HX-Request")
def entry_list(request):
    """The searchable catalog; htmx asks for the results alone."""
    entries = CatalogEntry.objects.for_display()
    filterset = CatalogEntryFilterSet(request.GET, queryset=entries)
    page = Paginator(filterset.qs, PAGE_SIZE).get_page(request.GET.get("page"))
    protocols = facet(
        request.GET, "protocol", "agent_type__protocol", parsers.choices()
    )
    statuses = facet(request.GET, "status", "status", Status.choices)
    context = {
        "tab": "catalog",
        "query": request.GET.get("q", ""),
        "asked": request.GET,
        "page": page,
        "protocols": protocols,
        "statuses": statuses,
        "all_protocols": sum(choice["count"] for choice in protocols),
        "all_statuses": sum(choice["count"] for choice in statuses),
        "sorts": SORTS,
        "kept": kept_filters(request.GET),
        "filtered": any(request.GET.get(name) for name in ASKED),
    }
    template = "catalog/entry_list.html"
    if wants_partial(request):
        template = "catalog/_entry_results.html"
    return render(request, template, context)


def facet(asked, name: str, field: str, choices) -> list[dict]:
    """Each choice with how many it would leave, all other questions held."""
    others = asked.copy()
    others.pop(name, None)
    entries = CatalogEntryFilterSet(others, queryset=CatalogEntry.objects.all()).qs
    counts = dict(entries.order_by().values_list(field).annotate(Count("pk")))
    return [
        {"value": value, "label": label, "count": counts.get(value, 0)}
        for value, label in choices
    ]


def kept_filters(asked) -> list[dict]:
    kept = []
    for name in BY_LINK:
        for value in filter(None, asked.getlist(name)):
            others = asked.copy()
            others.setlist(name, [v for v in asked.getlist(name) if v != value])
            others.pop("page", None)
            kept.append({"name": name, "value": value, "without": others.urlencode()})
    return kept


@require_safe
@reader
def entry_detail(request, pk):
    """All about one agent: what it can do, how to reach it, how it has been."""
    entries = CatalogEntry.objects.select_related("agent_type__provider")
    entry = entries.filter(pk=pk).first()
    if entry is None:
        raise Http404("There is no such agent in the catalog")
    agent_type = entry.agent_type
    capabilities = list(agent_type.capabilities.all())
    context = {
        "tab": "catalog",
        "entry": entry,
        "agent_type": agent_type,
        "capabilities": capabilities,
        "discoverable": [c for c in capabilities if c.discoverable],
        "technical": [c for c in capabilities if not c.discoverable],
        "connection": connection_of(agent_type.definition, agent_type.protocol),
        "versions": versions(entry),
        "definition": agent_type.definition.decode(errors="replace"),
    }
    return render(request, "catalog/entry_detail.html", context)


@require_POST
@curator
def entry_probe(request, pk):
    """Ask the agent now, and show how it is."""
    entry = get_object_or_404(CatalogEntry.objects.select_related("agent_type"), pk=pk)
    outcome = None if pause_left(entry) else probe_now(entry)
    if outcome is None:
        reason = "is never probed" if not entry.can_be_probed else "was just probed"
        messages.error(request, f"This agent {reason}.")
    elif outcome.ok:
        messages.success(request, f"It answered in {outcome.latency_ms} ms.")
    else:
        messages.error(request, f"It did not answer: {outcome.error}")
    return redirect("catalog:entry_detail", entry.pk)


def versions(entry: CatalogEntry) -> list[AgentType]:
    """Every version, the newest first, with the changes that led to it."""
    known = AgentType.objects.filter(agent_key=entry.agent_key)
    known = known.defer("raw_definition").prefetch_related("changes")
    return list(known.annotate(capability_count=capability_count("pk"))[:100])

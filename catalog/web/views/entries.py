from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from capabilities.features import FLAGS, LABELS
from capabilities.parsers import connection_of, parsers

from ...comparison import CHOSEN, MOST, Side, chosen, sections
from ...filters import FEATURE_LIMIT, SORTS, CatalogEntryFilterSet, is_feature
from ...health import History
from ...models import AgentType, Capability, CatalogEntry, Status
from ..access import reader
from ..htmx import wants_partial
from .health import HealthPanel

PAGE_SIZE = 24
# Asked by links from elsewhere, and shown as filters that can be taken away.
BY_LINK = ("kind", "provider", "category", "source")
ASKED = ("q", "protocol", "status", "feature", *BY_LINK)


@require_safe
@reader
@vary_on_headers("HX-Request")
def entry_list(request):
    """The searchable catalog; htmx asks for the results alone."""
    asked, odd = forgiven(request.GET)
    entries = CatalogEntry.objects.for_display()
    filterset = CatalogEntryFilterSet(asked, queryset=entries)
    page = Paginator(filterset.qs, PAGE_SIZE).get_page(asked.get("page"))
    protocols = facet(asked, "protocol", "agent_type__protocol", parsers.choices())
    statuses = facet(asked, "status", "status", Status.choices)
    context = {
        "tab": "catalog",
        "query": asked.get("q", ""),
        "asked": asked,
        "odd_features": odd,
        "page": page,
        "protocols": protocols,
        "statuses": statuses,
        "features": feature_facet(filterset, page.paginator.count),
        **choice(asked, page),
        "all_protocols": sum(choice["count"] for choice in protocols),
        "all_statuses": sum(choice["count"] for choice in statuses),
        "sorts": SORTS,
        "kept": kept_filters(asked),
        "filtered": any(asked.get(name) for name in ASKED),
    }
    template = "catalog/entry_list.html"
    if wants_partial(request):
        template = "catalog/_entry_results.html"
    return render(request, template, context)


def forgiven(asked) -> tuple:
    """The question, and those features in it that there are not: left out, and told."""
    stated = [text for text in asked.getlist("feature") if text]
    known = [text for text in stated if is_feature(text)][:FEATURE_LIMIT]
    if known == stated:
        return asked, []
    fewer = asked.copy()
    fewer.setlist("feature", known)
    return fewer, [text for text in stated if text not in known]


def choice(asked, page) -> dict:
    """Who is to be compared, here or on other pages; at most so many."""
    entries = chosen(asked)
    here = {entry.pk for entry in page}
    return {
        "chosen": [
            {
                "entry": entry,
                "elsewhere": entry.pk not in here,
                "without": without(asked, CHOSEN, str(entry.pk)),
            }
            for entry in entries
        ],
        "chosen_ids": [entry.pk for entry in entries],
        "choice": urlencode({CHOSEN: [entry.pk for entry in entries]}, doseq=True),
        "is_full": len(entries) == MOST,
    }


def without(asked, name: str, value: str) -> str:
    """The question with one of its values taken away."""
    others = asked.copy()
    others.setlist(name, [v for v in asked.getlist(name) if v != value])
    return others.urlencode()


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


def feature_facet(filterset, total: int) -> list[dict]:
    """The standard flags that some of these agents declare; those asked for always."""
    wanted = filterset.form.cleaned_data.get("feature") or []
    offered = dict.fromkeys([*FLAGS, *wanted])
    declared = Capability.objects.declaring_features(offered).filter(
        agent_type__entry__in=filterset.qs.order_by()
    )
    counts = dict(declared.order_by().values_list("name").annotate(Count("pk")))
    # All of these agents have what was asked for, declared or counted.
    counts |= dict.fromkeys(wanted, total)
    return [
        {
            "value": name,
            "label": LABELS.get(name, name),
            "count": counts.get(name, 0),
            "chosen": name in wanted,
        }
        for name in offered
        if counts.get(name) or name in wanted
    ]


def kept_filters(asked) -> list[dict]:
    kept = []
    for name in BY_LINK:
        for value in filter(None, asked.getlist(name)):
            fewer = asked.copy()
            fewer.pop("page", None)
            left = without(fewer, name, value)
            kept.append({"name": name, "value": value, "without": left})
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
        "connection": connection_of(
            agent_type.definition, agent_type.protocol, agent_type.endpoint
        ),
        "versions": AgentType.objects.versions_of(entry).defer("raw_definition")[:100],
        "health": HealthPanel(History.of(entry)),
        "supports": list(sections([Side.of(entry, capabilities)])),
        "definition": agent_type.definition.decode(errors="replace"),
    }
    return render(request, "catalog/entry_detail.html", context)

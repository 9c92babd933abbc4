from django.http import Http404
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from capabilities.kinds import discoverable_kinds, kinds

from ... import search
from ...filters import CapabilityQuestion
from ...models import Capability, split_key
from ..access import reader
from ..htmx import wants_partial
from .grouping import grouped
from .paging import Window


@require_safe
@reader
@vary_on_headers("HX-Request")
def capability_list(request):
    """Which agent can do X; htmx asks for the results alone."""
    question = CapabilityQuestion(request.GET).question()
    found, window = seen_through(Window.of(request.GET), question)
    before, items = window.parted(found.items)
    counts = search.kind_counts(question.q)
    context = {
        "tab": "capabilities",
        "query": question.q,
        "question": question,
        "total": found.total,
        "groups": grouped(items, before),
        "window": window,
        "kinds": [
            {"value": slug, "label": kinds.get(slug).label, "count": count}
            for slug, count in counts.items()
        ],
        "all_kinds": sum(counts.values()),
        "sorts": search.SORTS,
        "filtered": bool(question.q or question.kind),
    }
    template = "catalog/capability_list.html"
    if wants_partial(request):
        template = "catalog/_capability_results.html"
    return render(request, template, context)


def seen_through(window: Window, question: search.Question):
    """What the window shows, with the one offer before it; never past the end."""
    found = search.find(question, window.size + 1, max(0, window.start - 1))
    window = window.over(found.total)
    if window.page > window.last_page:
        return seen_through(Window(window.last_page), question)
    return found, window


@require_safe
@reader
def capability_detail(request, key):
    """Every agent that offers it, whatever its status."""
    kind, name = split_key(key) or ("", key)
    offers = list(Capability.objects.offered(kind, name))
    if kind not in discoverable_kinds() or not offers:
        raise Http404(f"No agent offers {name}")
    context = {"tab": "capabilities", "kind": kind, "name": name, "offers": offers}
    return render(request, "catalog/capability_detail.html", context)

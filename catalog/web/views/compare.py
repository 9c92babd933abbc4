from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRedirect

from ...comparison import (
    MAX_AGENTS,
    SELECTED_PARAMETER,
    NotComparable,
    compare,
    parse_entry_ids,
)
from ...models import CatalogEntry
from ..access import require_view_permission
from ..htmx import wants_partial


@require_safe
@require_view_permission
def entry_compare(request: HttpRequest) -> HttpResponse:
    """Compare the agents whose IDs are in the URL."""
    values = request.GET.getlist(SELECTED_PARAMETER) or request.GET.getlist("id")
    ids = [value for value in values if value]
    url = f"{reverse('catalog:entry_compare')}?{urlencode({'id': ids}, doseq=True)}"
    if wants_partial(request):
        return HttpResponseClientRedirect(url)
    if request.GET.keys() - {"id"}:
        # The catalog page's form also submits its filters.
        return redirect(url)
    context: dict[str, Any] = {
        "tab": "catalog",
        "comparison": None,
        "selection_query": urlencode(
            {SELECTED_PARAMETER: ids[:MAX_AGENTS]}, doseq=True
        ),
    }
    try:
        context["comparison"] = compare(parse_entry_ids(request.GET))
    except NotComparable as error:
        context["error"] = f"{error}."
    except ValueError as error:
        raise Http404("An agent ID in the URL is not valid.") from error
    except CatalogEntry.DoesNotExist:
        context["error"] = "Some of these agents are no longer in the catalog."
        return render(request, "catalog/entry_compare.html", context, status=404)
    return render(request, "catalog/entry_compare.html", context)

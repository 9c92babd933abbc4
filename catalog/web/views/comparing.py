from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRedirect

from ...comparison import CHOSEN, MOST, NotComparable, compare, ids_of
from ...models import CatalogEntry
from ..access import reader
from ..htmx import wants_partial


@require_safe
@reader
def entry_compare(request):
    """Two to four agents side by side; the URL is the choice, and nothing else."""
    given = request.GET.getlist(CHOSEN) or request.GET.getlist("id")
    ids = list(filter(None, given))
    place = f"{reverse('catalog:entry_compare')}?{urlencode({'id': ids}, doseq=True)}"
    if wants_partial(request):
        return HttpResponseClientRedirect(place)
    if request.GET.keys() - {"id"}:
        # The catalog's form brings its filters along.
        return redirect(place)
    context = {"tab": "catalog", "comparison": None, "choice": choice_of(ids)}
    try:
        context["comparison"] = compare(ids_of(request.GET))
    except NotComparable as error:
        context["fault"] = str(error)
    except ValueError as error:
        raise Http404("That is no agent's id") from error
    except CatalogEntry.DoesNotExist:
        context["fault"] = "Not all of these agents are in the catalog any more"
        return render(request, "catalog/entry_compare.html", context, status=404)
    return render(request, "catalog/entry_compare.html", context)


def choice_of(ids: list[str]) -> str:
    """The way back to the catalog, with as many still chosen as may be."""
    return urlencode({CHOSEN: ids[:MOST]}, doseq=True)

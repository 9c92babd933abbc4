"""What a curator does to one agent from its page."""

from functools import wraps

from django.contrib import messages
from django.http import Http404
from django.shortcuts import get_object_or_404, redirect, render

from capabilities.parsers import ParseError

from ...forms import RefreshForm
from ...health import Probe
from ...ingestion import Outdated, Result
from ...models import CatalogEntry
from ...outbound import AuthorizationNeeded, FetchError
from ...registration import Expired, NotRefreshable, accept, look_again, probe_asked
from ..access import curator


def by_button(view):
    """Pressed on the agent's page; who comes another way, after a login, is led there.

    Somebody may remove the agent while it is being asked.
    """

    @wraps(view)
    def pressed(request, pk):
        if request.method != "POST":
            return redirect("catalog:entry_detail", pk)
        try:
            return view(request, pk)
        except CatalogEntry.DoesNotExist as error:
            raise Http404("This agent was removed meanwhile") from error

    return pressed


@by_button
@curator
def entry_probe(request, pk):
    """Ask the agent now, and show how it is."""
    entry = get_object_or_404(CatalogEntry.objects.select_related("agent_type"), pk=pk)
    if not entry.can_be_probed:
        messages.error(request, "This agent is never probed.")
    else:
        try:
            tell(request, probe_asked(entry))
        except FetchError as error:
            messages.error(request, f"{error}.")
    return redirect("catalog:entry_detail", entry.pk)


def tell(request, outcome: Probe) -> None:
    if not outcome.ok:
        messages.error(request, f"It did not answer: {outcome.error}")
    elif outcome.latency_ms is None:
        messages.success(request, "It was heard lately.")
    else:
        messages.success(request, f"It answered in {outcome.latency_ms} ms.")


@by_button
@curator
def entry_refresh(request, pk):
    """Look at the definition as it is published now; apply what was looked at."""
    entry = get_object_or_404(CatalogEntry.objects.select_related("agent_type"), pk=pk)
    if "sealed" in request.POST:
        return apply_refresh(request, entry)
    form = RefreshForm(request.POST)
    context = {"tab": "catalog", "entry": entry, "form": form}
    try:
        if form.is_valid():
            context |= seen(entry, form.cleaned_data["authorization"])
    except (FetchError, NotRefreshable, Outdated) as error:
        messages.error(request, f"It could not be refreshed: {error}")
        return redirect("catalog:entry_detail", entry.pk)
    if context.get("as_it_was"):
        messages.success(request, "The definition is as it was.")
        return redirect("catalog:entry_detail", entry.pk)
    return render(request, "catalog/entry_refresh.html", context)


def seen(entry, authorization: str) -> dict:
    """What there is to tell of the definition as it is published now."""
    try:
        look = look_again(entry, authorization)
    except AuthorizationNeeded as error:
        return {"problem": str(error)}
    except ParseError as error:
        return {"problem": "It could not be refreshed", "reading": error.reading}
    as_it_was = look.outcome.result == Result.UNCHANGED
    if as_it_was:
        accept(look.sealed, entry)
    whole = as_it_was and not look.problem
    return {"look": look, "problem": look.problem, "as_it_was": whole}


def apply_refresh(request, entry):
    try:
        _, told = accept(request.POST["sealed"], entry)
        messages.success(request, told)
    except Outdated as error:
        messages.error(request, f"{error}. Please look again.")
    except Expired:
        messages.error(request, "The preview has expired. Please look again.")
    return redirect("catalog:entry_detail", entry.pk)

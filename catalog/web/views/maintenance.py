"""Probe and refresh buttons of an agent's page."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render

from capabilities.parsers import ParseError

from ...discovery import get_failed_search
from ...forms import RefreshForm
from ...health import ProbeOutcome
from ...ingestion import EntryChanged, IngestOutcome
from ...models import CatalogEntry
from ...outbound import AuthorizationRequired, FetchError, TooBusy
from ...registration import (
    CANNOT_BE_PROBED,
    NotRefreshable,
    PreviewExpired,
    confirm_preview,
    preview_refresh,
    probe_on_demand,
)
from ..access import require_change_permission

EntryView = Callable[[HttpRequest, UUID], HttpResponseBase]


def entry_action(view: EntryView) -> EntryView:
    """Redirect methods other than POST to the agent's page.

    The login page, for example, redirects back with a GET. Respond with 404 if the
    entry is deleted while the view waits for the agent.
    """

    @wraps(view)
    def wrapper(request: HttpRequest, pk: UUID) -> HttpResponseBase:
        if request.method != "POST":
            return redirect("catalog:entry_detail", pk)
        try:
            return view(request, pk)
        except CatalogEntry.DoesNotExist as error:
            raise Http404("This agent has been deleted.") from error

    return wrapper


@entry_action
@require_change_permission
def entry_probe(request: HttpRequest, pk: UUID) -> HttpResponseBase:
    """Probe the agent now and show the result as a message."""
    entry = get_object_or_404(CatalogEntry.objects.select_related("agent_type"), pk=pk)
    if not entry.can_be_probed:
        messages.error(request, f"{CANNOT_BE_PROBED}.")
    else:
        try:
            add_probe_message(request, probe_on_demand(entry))
        except FetchError as error:
            messages.error(request, f"{error}.")
    return redirect("catalog:entry_detail", entry.pk)


def add_probe_message(request: HttpRequest, outcome: ProbeOutcome | None) -> None:
    if outcome is None:
        # Deprecated since the check above.
        messages.error(request, f"{CANNOT_BE_PROBED}.")
    elif not outcome.ok:
        messages.error(request, f"The probe failed: {outcome.error}.")
    elif outcome.latency_ms is None:
        messages.success(request, "The agent was seen recently.")
    else:
        messages.success(request, f"The agent responded in {outcome.latency_ms} ms.")


@entry_action
@require_change_permission
def entry_refresh(request: HttpRequest, pk: UUID) -> HttpResponseBase:
    """Preview the changes of the published definition, or apply previewed changes."""
    entry = get_object_or_404(CatalogEntry.objects.select_related("agent_type"), pk=pk)
    if "signed" in request.POST:
        return apply_refresh(request, entry)
    form = RefreshForm(request.POST)
    context: dict[str, Any] = {"tab": "catalog", "entry": entry, "form": form}
    try:
        if form.is_valid():
            context |= build_refresh_context(entry, form.cleaned_data["authorization"])
    except (TooBusy, NotRefreshable, EntryChanged) as error:
        messages.error(request, f"Refresh failed: {error}.")
        return redirect("catalog:entry_detail", entry.pk)
    if context.get("is_unchanged"):
        messages.success(request, "No changes found.")
        return redirect("catalog:entry_detail", entry.pk)
    return render(request, "catalog/entry_refresh.html", context)


def build_refresh_context(entry: CatalogEntry, authorization: str) -> dict[str, Any]:
    """Fetch the definition and return the preview or the errors for the template.

    An unchanged definition is applied at once, which updates its last-seen time.
    """
    try:
        preview = preview_refresh(entry, authorization)
    except AuthorizationRequired as error:
        return {"error": str(error), "failed_search": get_failed_search(error)}
    except TooBusy:
        raise
    except FetchError as error:
        message = f"Refresh failed: {error}"
        return {"error": message, "failed_search": get_failed_search(error)}
    except ParseError as error:
        message = "Refresh failed: the published definition is invalid"
        return {
            "error": message,
            "failed_search": get_failed_search(error),
            "parse_result": error.result,
        }
    is_unchanged = preview.ingest_result.outcome == IngestOutcome.UNCHANGED
    if is_unchanged:
        confirm_preview(preview.signed, entry)
    return {
        "preview": preview,
        "error": preview.incomplete_reason,
        "is_unchanged": is_unchanged and not preview.incomplete_reason,
    }


def apply_refresh(request: HttpRequest, entry: CatalogEntry) -> HttpResponseBase:
    try:
        _, message = confirm_preview(request.POST["signed"], entry)
        messages.success(request, message)
    except EntryChanged as error:
        messages.error(request, f"{error}. Refresh again.")
    except PreviewExpired:
        messages.error(request, "The preview has expired. Refresh again.")
    return redirect("catalog:entry_detail", entry.pk)

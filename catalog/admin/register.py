"""The admin's registration view: shows the form, previews, and registers."""

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from ..forms import RegisterForm
from ..ingestion import IngestOutcome
from ..registration import AlreadyDefined, PreviewExpired, confirm_preview

if TYPE_CHECKING:
    from .entries import CatalogEntryAdmin

TEMPLATE = "admin/catalog/catalogentry/register.html"


def register_view(admin: "CatalogEntryAdmin", request: HttpRequest) -> HttpResponse:
    """Show the form, preview a definition, or register a previewed one."""
    if not admin.has_add_permission(request):
        raise PermissionDenied
    if "signed" in request.POST:
        return confirm_registration(admin, request)
    if request.method == "POST":
        form = RegisterForm(request.POST, request.FILES)
    else:
        form = RegisterForm()
    allow_stub = "allow_stub" in request.POST
    preview = form.preview(allow_stub=allow_stub) if form.is_valid() else None
    return render_page(admin, request, {"form": form, "preview": preview})


def confirm_registration(
    admin: "CatalogEntryAdmin", request: HttpRequest
) -> HttpResponse:
    try:
        ingest_result, message = confirm_preview(request.POST["signed"])
    except (PreviewExpired, AlreadyDefined) as error:
        messages.error(request, f"{error}.")
        return render_page(admin, request, {"form": RegisterForm()})
    entry = ingest_result.entry
    if ingest_result.outcome == IngestOutcome.CREATED:
        admin.log_addition(request, entry, "Registered from its definition.")
    messages.success(request, message)
    url = reverse("admin:catalog_catalogentry_change", args=[entry.pk])
    return HttpResponseRedirect(url)


def render_page(
    admin: "CatalogEntryAdmin", request: HttpRequest, context: dict[str, Any]
) -> TemplateResponse:
    page_context = {
        **admin.admin_site.each_context(request),
        "title": "Register an agent",
        "opts": admin.opts,
        "media": admin.media,
    }
    return TemplateResponse(request, TEMPLATE, page_context | context)

"""Registering from the desk: one address for the form, the preview and the deed."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from ..forms import RegisterForm
from ..ingestion import Result
from ..registration import PreviewExpired, confirm_preview

TEMPLATE = "admin/catalog/catalogentry/register.html"


def register_view(admin, request):
    if not admin.has_add_permission(request):
        raise PermissionDenied
    if "signed" in request.POST:
        return confirm_registration(admin, request)
    given = (request.POST, request.FILES) if request.method == "POST" else ()
    form = RegisterForm(*given)
    review = form.review() if form.is_valid() else None
    return page(admin, request, {"form": form, "review": review})


def confirm_registration(admin, request):
    try:
        outcome, told = confirm_preview(request.POST["signed"])
    except PreviewExpired:
        messages.error(request, "The preview has expired. Please look again.")
        return page(admin, request, {"form": RegisterForm()})
    if outcome.result == Result.CREATED:
        admin.log_addition(request, outcome.entry, "Registered from its definition.")
    messages.success(request, told)
    place = reverse("admin:catalog_catalogentry_change", args=[outcome.entry.pk])
    return HttpResponseRedirect(place)


def page(admin, request, context: dict) -> TemplateResponse:
    context = {
        **admin.admin_site.each_context(request),
        "title": "Register an agent",
        "opts": admin.opts,
        "media": admin.media,
        **context,
    }
    return TemplateResponse(request, TEMPLATE, context)

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from ...forms import RegisterForm
from ...registration import AlreadyDefined, PreviewExpired, confirm_preview
from ..access import require_add_permission


@require_http_methods(["GET", "HEAD", "POST"])
@require_add_permission
def register(request: HttpRequest) -> HttpResponse:
    """Show the form, preview a definition, or register a previewed one."""
    if "signed" in request.POST:
        return confirm_registration(request)
    if request.method == "POST":
        form = RegisterForm(request.POST, request.FILES)
    else:
        form = RegisterForm()
    allow_stub = "allow_stub" in request.POST
    preview = form.preview(allow_stub=allow_stub) if form.is_valid() else None
    context = {"tab": "catalog", "form": form, "preview": preview}
    return render(request, "catalog/register.html", context)


def confirm_registration(request: HttpRequest) -> HttpResponse:
    try:
        ingest_result, message = confirm_preview(request.POST["signed"])
    except (PreviewExpired, AlreadyDefined) as error:
        messages.error(request, f"{error}.")
        return redirect("catalog:register")
    messages.success(request, message)
    return redirect("catalog:entry_detail", ingest_result.entry.pk)

from django.contrib import messages
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from ...forms import RegisterForm
from ...registration import Expired, accept
from ..access import editor


@require_http_methods(["GET", "HEAD", "POST"])
@editor
def register(request):
    """One address for the form, the preview and the deed."""
    if "sealed" in request.POST:
        return confirm(request)
    given = (request.POST, request.FILES) if request.method == "POST" else ()
    form = RegisterForm(*given)
    review = form.review() if form.is_valid() else None
    context = {"tab": "catalog", "form": form, "review": review}
    return render(request, "catalog/register.html", context)


def confirm(request):
    try:
        outcome, told = accept(request.POST["sealed"])
    except Expired:
        messages.error(request, "The preview has expired. Please look again.")
        return redirect("catalog:register")
    messages.success(request, told)
    return redirect("catalog:entry_detail", outcome.entry.pk)

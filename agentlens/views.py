"""Is it alive, is it ready; the API to read; and who you are here."""

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.cache import cache
from django.db import Error, connection
from django.http import Http404, JsonResponse
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from drf_spectacular.views import SpectacularSwaggerSplitView
from redis import RedisError
from rest_framework.exceptions import NotAuthenticated

from .errors import error_response
from .middleware import CONTENT_SECURITY_POLICY


@require_safe
@never_cache
def healthz(request):
    """The process answers."""
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def readyz(request):
    """The process has what it needs to serve: database and cache."""
    checks = {"database": database_answers(), "cache": cache_answers()}
    ready = all(checks.values())
    words = {name: "ok" if well else "failing" for name, well in checks.items()}
    status = "ok" if ready else "failing"
    return JsonResponse({"status": status, **words}, status=200 if ready else 503)


def database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return False
    return True


def cache_answers() -> bool:
    try:
        cache.set("readyz", "ok", timeout=5)
        return cache.get("readyz") == "ok"
    except RedisError:
        return False


class ApiDocs(SpectacularSwaggerSplitView):
    """Swagger UI, which styles its elements one by one: only here may they be."""

    url_name = "schema"
    template_name = "api_docs.html"

    def handle_exception(self, exc):
        """A page for people: whoever is not known yet logs in."""
        is_browser = "text/html" in self.request.headers.get("Accept", "")
        if isinstance(exc, NotAuthenticated) and is_browser:
            return redirect_to_login(self.request.get_full_path())
        return super().handle_exception(exc)

    def finalize_response(self, request, response, *args, **kwargs):
        response["Content-Security-Policy"] = CONTENT_SECURITY_POLICY.replace(
            "style-src 'self'", "style-src 'self' 'unsafe-inline'"
        )
        return super().finalize_response(request, response, *args, **kwargs)


@csrf_exempt
def api_not_found(request, rest=""):
    return error_response(404)


@require_safe
def without_slash(request, place):
    """Where one slash too many was typed, and nothing else is wrong."""
    there = f"/{place.strip('/')}"
    try:
        resolve(there)
    except Resolver404 as error:
        raise Http404 from error
    return redirect(there)


@require_safe
def home(request):
    return redirect("catalog:capability_list")


@require_safe
@login_required
def account(request):
    """Who you are here, what you may, and which tokens speak for you."""
    context = {
        "tab": "account",
        "roles": request.user.groups.values_list("name", flat=True),
        "tokens": request.user.auth_token_set.order_by("-created"),
    }
    return render(request, "account.html", context)

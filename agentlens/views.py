"""Health checks, API documentation, redirects and the account page."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.cache import cache
from django.db import Error, connection
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from drf_spectacular.views import SpectacularSwaggerSplitView
from redis import RedisError
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from .errors import build_error_response
from .middleware import CONTENT_SECURITY_POLICY


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Respond with 200 while the process runs."""
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """Respond with 200 if the database and the cache can be used, else with 503."""
    checks = {"database": is_database_available(), "cache": is_cache_available()}
    is_ready = all(checks.values())
    body = {"status": is_ready, **checks}
    return JsonResponse(
        {name: "ok" if is_ok else "failing" for name, is_ok in body.items()},
        status=200 if is_ready else 503,
    )


def is_database_available() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return False
    return True


def is_cache_available() -> bool:
    try:
        cache.set("readyz", "ok", timeout=5)
        return bool(cache.get("readyz") == "ok")
    except RedisError:
        return False


class ApiDocs(SpectacularSwaggerSplitView):
    """Swagger UI, with a security policy that allows its inline styles."""

    url_name = "schema"
    template_name = "api_docs.html"

    def handle_exception(self, exc: Exception) -> Any:
        """Redirect browsers without a session to the login page."""
        is_browser = "text/html" in self.request.headers.get("Accept", "")
        if isinstance(exc, NotAuthenticated) and is_browser:
            return redirect_to_login(self.request.get_full_path())
        return super().handle_exception(exc)

    def finalize_response(
        self, request: Request, response: Any, *args: Any, **kwargs: Any
    ) -> Response:
        response["Content-Security-Policy"] = CONTENT_SECURITY_POLICY.replace(
            "style-src 'self'", "style-src 'self' 'unsafe-inline'"
        )
        return super().finalize_response(request, response, *args, **kwargs)


@csrf_exempt
def api_not_found(request: HttpRequest, rest: str = "") -> HttpResponse:
    return build_error_response(404)


@require_safe
def remove_trailing_slash(request: HttpRequest, path: str) -> HttpResponse:
    """Redirect to the URL without the trailing slash if it exists, else raise 404."""
    url = f"/{path.strip('/')}"
    try:
        resolve(url)
    except Resolver404 as error:
        raise Http404 from error
    return redirect(url)


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    return redirect("catalog:capability_list")


@require_safe
@login_required
def account(request: Any) -> HttpResponse:
    """Show the roles and the API tokens of the user."""
    context = {
        "tab": "account",
        "roles": request.user.groups.values_list("name", flat=True),
        "tokens": request.user.auth_token_set.order_by("-created"),
    }
    return render(request, "account.html", context)

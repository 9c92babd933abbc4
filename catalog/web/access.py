"""Permission decorators for views."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeAlias

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django_htmx.http import HttpResponseClientRedirect

from .htmx import wants_partial

P = ParamSpec("P")
ViewFunction: TypeAlias = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def require_permission(
    permission: str,
) -> Callable[[ViewFunction[P]], ViewFunction[P]]:
    """Return a decorator that requires a permission.

    Without it, anonymous users are redirected to the login page, and logged-in users
    get a 403.
    """

    def decorator(view: ViewFunction[P]) -> ViewFunction[P]:
        @wraps(view)
        def wrapper(
            request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs
        ) -> HttpResponseBase:
            if request.user.has_perm(permission):
                return view(request, *args, **kwargs)
            if request.user.is_authenticated:
                raise PermissionDenied
            login = redirect_to_login(request.get_full_path())
            # htmx would follow a 302 and swap the login page into the results.
            if wants_partial(request):
                return HttpResponseClientRedirect(login.url)
            return login

        return wrapper

    return decorator


require_view_permission = require_permission("catalog.view_catalogentry")
require_add_permission = require_permission("catalog.add_catalogentry")
require_change_permission = require_permission("catalog.change_catalogentry")

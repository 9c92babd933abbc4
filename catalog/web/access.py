from functools import wraps

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django_htmx.http import HttpResponseClientRedirect

from .htmx import wants_partial


def permission_needed(permission: str):
    """Ask strangers to log in; tell those who did, and may not, that they may not."""

    def decorate(view):
        @wraps(view)
        def guarded(request, *args, **kwargs):
            if request.user.has_perm(permission):
                return view(request, *args, **kwargs)
            if request.user.is_authenticated:
                raise PermissionDenied
            login = redirect_to_login(request.get_full_path())
            # Else the login page would be swapped in among the results.
            if wants_partial(request):
                return HttpResponseClientRedirect(login.url)
            return login

        return guarded

    return decorate


reader = permission_needed("catalog.view_catalogentry")
editor = permission_needed("catalog.add_catalogentry")
curator = permission_needed("catalog.change_catalogentry")

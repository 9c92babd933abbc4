from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

VIEW_PERMISSION = "catalog.view_catalogentry"
CHANGE_PERMISSION = "catalog.change_catalogentry"


def has_user_permission(request: Request, permission: str) -> bool:
    """Return whether the request's user has the permission.

    The user is None where a project sets UNAUTHENTICATED_USER to None.
    """
    return request.user is not None and request.user.has_perm(permission)


class CanReadCatalog(BasePermission):
    def has_permission(self, request: Request, view: APIView) -> bool:
        return has_user_permission(request, VIEW_PERMISSION)


class CatalogPermissions(BasePermission):
    """Requires the permission of the view's action or else of the HTTP method.

    A view lists the exceptions in its `permission_by_action`.
    """

    permission_by_method = {
        "GET": VIEW_PERMISSION,
        "HEAD": VIEW_PERMISSION,
        "POST": "catalog.add_catalogentry",
        "PATCH": CHANGE_PERMISSION,
        "DELETE": "catalog.delete_catalogentry",
    }

    def has_permission(self, request: Request, view: APIView) -> bool:
        method = request.method or ""
        by_action: dict[str, str] = getattr(view, "permission_by_action", {})
        action = getattr(view, "action", None) or ""
        permission = by_action.get(action) or self.permission_by_method.get(method)
        if permission is None:
            # A handler without a listed permission is denied. If there is no handler,
            # the view responds with 405.
            return not has_handler(view, method)
        return has_user_permission(request, permission)


def has_handler(view: APIView, method: str) -> bool:
    name = method.lower()
    return name in view.http_method_names and hasattr(view, name)

from rest_framework.permissions import BasePermission

VIEW = "catalog.view_catalogentry"
CHANGE = "catalog.change_catalogentry"


def may(request, permission: str) -> bool:
    """Whether the user has a permission; a project may leave out who is unknown."""
    return request.user is not None and request.user.has_perm(permission)


class CanReadCatalog(BasePermission):
    def has_permission(self, request, view):
        return may(request, VIEW)


class CatalogPermissions(BasePermission):
    """What a method needs, unless the view's `permissions` names its action."""

    needed = {
        "GET": VIEW,
        "HEAD": VIEW,
        "POST": "catalog.add_catalogentry",
        "PATCH": CHANGE,
        "DELETE": "catalog.delete_catalogentry",
    }

    def has_permission(self, request, view):
        by_action = getattr(view, "permissions", {})
        action = getattr(view, "action", None)
        needed = by_action.get(action) or self.needed.get(request.method)
        if needed is None:
            # A handler without a listed permission is closed; without a handler: 405.
            return not answers(view, request.method)
        return may(request, needed)


def answers(view, method: str) -> bool:
    """Whether the view has a handler for the method."""
    name = method.lower()
    return name in view.http_method_names and hasattr(view, name)

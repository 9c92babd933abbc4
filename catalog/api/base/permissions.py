from rest_framework.permissions import BasePermission

VIEW = "catalog.view_catalogentry"
CHANGE = "catalog.change_catalogentry"


class CanReadCatalog(BasePermission):
    def has_permission(self, request, view):
        return request.user.has_perm(VIEW)


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
        return needed is None or request.user.has_perm(needed)

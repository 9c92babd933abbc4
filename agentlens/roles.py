"""Who may do what: three groups, and the reader nobody knows."""

from django.apps import apps
from django.conf import settings
from django.contrib.auth.backends import BaseBackend, ModelBackend
from django.contrib.auth.models import Group, Permission
from django.db import connection

CATALOG = ("catalogentry", "agenttype", "capability", "provider", "definitionchange")
VIEWER = {
    *(f"catalog.view_{model}" for model in CATALOG),
    "routing.view_capabilityregistration",
}
EDITOR = VIEWER | {
    *(f"routing.{verb}_capabilityregistration" for verb in ("add", "change", "delete")),
    "catalog.add_catalogentry",
    "catalog.change_catalogentry",
    "catalog.change_provider",
}
ADMIN = EDITOR | {
    "catalog.delete_catalogentry",
    "catalog.add_provider",
    "catalog.delete_provider",
    "admin.view_logentry",
    *(f"auth.{verb}_user" for verb in ("view", "add", "change", "delete")),
    "auth.view_group",
    *(f"knox.{verb}_authtoken" for verb in ("view", "add", "delete")),
}
# By oneself, or by a group.
HELD_BY = """
FROM auth_permission permission
JOIN django_content_type kind ON kind.id = permission.content_type_id
WHERE permission.id IN (
    SELECT permission_id FROM auth_user_user_permissions WHERE user_id = {user}
    UNION
    SELECT held.permission_id FROM auth_group_permissions held
    JOIN auth_user_groups belongs ON belongs.group_id = held.group_id
    WHERE belongs.user_id = {user}
)
"""
PERMISSION = "kind.app_label || '.' || permission.codename"
PERMISSIONS = f"SELECT {PERMISSION} {HELD_BY.format(user='%s')}"
ROLES = {"Viewer": VIEWER, "Editor": EDITOR, "Admin": ADMIN}


def keep_roles(apps=apps, **kwargs):
    """Make the groups and their permissions what this file says, however they were."""
    try:
        apps.get_model("auth", "Permission")
    except LookupError:  # some app was migrated alone, into an empty database
        return
    by_name = {
        f"{permission.content_type.app_label}.{permission.codename}": permission
        for permission in Permission.objects.select_related("content_type")
    }
    for name, permissions in ROLES.items():
        group, _ = Group.objects.get_or_create(name=name)
        group.permissions.set(by_name[p] for p in permissions & by_name.keys())


class RolesBackend(ModelBackend):
    """Asks once for all that a user may, and not for each way of having it."""

    def get_all_permissions(self, user_obj, obj=None):
        ordinary = user_obj.is_active and not user_obj.is_anonymous and obj is None
        if not ordinary or user_obj.is_superuser:
            return super().get_all_permissions(user_obj, obj)
        if not hasattr(user_obj, "_perm_cache"):
            with connection.cursor() as cursor:
                cursor.execute(PERMISSIONS, [user_obj.pk, user_obj.pk])
                user_obj._perm_cache = {held for (held,) in cursor.fetchall()}
        return user_obj._perm_cache


class AnonymousReader(BaseBackend):
    """Lets people without an account or a role read, where the operator wants it."""

    def has_perm(self, user_obj, perm, obj=None):
        return settings.AGENTLENS_ANONYMOUS_READ and perm in VIEWER

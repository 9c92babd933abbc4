"""Roles: three groups of permissions, and optional read access without a login."""

from typing import Any

from django.apps import apps
from django.apps.registry import Apps
from django.conf import settings
from django.contrib.auth.backends import BaseBackend, ModelBackend
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, Group, Permission
from django.db import connection
from django.db.models import Model

CATALOG_MODELS = (
    "catalogentry",
    "agenttype",
    "capability",
    "provider",
    "definitionchange",
)
VIEWER = {
    *(f"catalog.view_{model}" for model in CATALOG_MODELS),
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
# The FROM clause of the permissions that a user has directly or through a group.
PERMISSIONS_FROM_SQL = """
FROM auth_permission permission
JOIN django_content_type content_type
    ON content_type.id = permission.content_type_id
WHERE permission.id IN (
    SELECT permission_id FROM auth_user_user_permissions WHERE user_id = {user}
    UNION
    SELECT granted.permission_id FROM auth_group_permissions granted
    JOIN auth_user_groups membership ON membership.group_id = granted.group_id
    WHERE membership.user_id = {user}
)
"""
PERMISSION_NAME_SQL = "content_type.app_label || '.' || permission.codename"
USER_PERMISSIONS_SQL = (
    f"SELECT {PERMISSION_NAME_SQL} {PERMISSIONS_FROM_SQL.format(user='%s')}"
)
ROLES = {"Viewer": VIEWER, "Editor": EDITOR, "Admin": ADMIN}


def sync_roles(apps: Apps = apps, **kwargs: Any) -> None:
    """Create the groups and reset their permissions to those of this module."""
    try:
        apps.get_model("auth", "Permission")
    except LookupError:  # one app was migrated alone, into an empty database
        return
    permission_by_name = {
        f"{permission.content_type.app_label}.{permission.codename}": permission
        for permission in Permission.objects.select_related("content_type")
    }
    for name, permissions in ROLES.items():
        group, _ = Group.objects.get_or_create(name=name)
        group.permissions.set(
            permission_by_name[p] for p in permissions & permission_by_name.keys()
        )


class RolesBackend(ModelBackend):
    """Reads direct and group permissions in one query instead of Django's two."""

    def get_all_permissions(self, user_obj: Any, obj: Model | None = None) -> set[str]:
        is_regular = user_obj.is_active and not user_obj.is_anonymous
        if obj is not None or not is_regular or user_obj.is_superuser:
            return super().get_all_permissions(user_obj, obj)
        if not hasattr(user_obj, "_perm_cache"):
            with connection.cursor() as cursor:
                cursor.execute(USER_PERMISSIONS_SQL, [user_obj.pk, user_obj.pk])
                user_obj._perm_cache = {name for (name,) in cursor.fetchall()}
        permissions: set[str] = user_obj._perm_cache
        return permissions


class AnonymousReadBackend(BaseBackend):
    """Grants read access to everyone if `AGENTLENS_ANONYMOUS_READ` is on."""

    def has_perm(
        self,
        user_obj: AbstractBaseUser | AnonymousUser,
        perm: str,
        obj: Model | None = None,
    ) -> bool:
        return bool(settings.AGENTLENS_ANONYMOUS_READ) and perm in VIEWER

"""Who may do what: three groups, and the reader nobody knows."""

from django.apps import apps
from django.conf import settings
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.models import Group, Permission

CATALOG = ("catalogentry", "agenttype", "capability", "provider", "definitionchange")
VIEWER = {f"catalog.view_{model}" for model in CATALOG}
EDITOR = VIEWER | {
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


class AnonymousReader(BaseBackend):
    """Lets people without an account or a role read, where the operator wants it."""

    def has_perm(self, user_obj, perm, obj=None):
        return settings.AGENTLENS_ANONYMOUS_READ and perm in VIEWER

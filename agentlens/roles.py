"""Who may do what: three groups, and the reader nobody knows."""

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


def keep_roles(**kwargs):
    """Make the groups and their permissions what this file says, however they were."""
    by_name = {
        f"{permission.content_type.app_label}.{permission.codename}": permission
        for permission in Permission.objects.select_related("content_type")
    }
    for name, permissions in ROLES.items():
        group, _ = Group.objects.get_or_create(name=name)
        group.permissions.set(by_name[permission] for permission in permissions)


class AnonymousReader(BaseBackend):
    """Lets people without an account read, where the operator wants it so."""

    def has_perm(self, user_obj, perm, obj=None):
        open_to_all = settings.AGENTLENS_ANONYMOUS_READ and user_obj.is_anonymous
        return open_to_all and perm in VIEWER

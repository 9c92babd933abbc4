from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class AgentLensAdminConfig(AdminConfig):
    default_site = "agentlens.admin.AgentLensAdminSite"


class AgentLensConfig(AppConfig):
    """The project itself; last in the list, so that every permission exists."""

    name = "agentlens"

    def ready(self):
        from django.db.models.signals import post_migrate

        from .roles import keep_roles

        post_migrate.connect(keep_roles, sender=self)

from axes.apps import AppConfig as AxesConfig
from django.apps import AppConfig, apps
from django.contrib.admin.apps import AdminConfig


class AgentLensAdminConfig(AdminConfig):
    default_site = "agentlens.admin_site.AgentLensAdminSite"


class TokensConfig(AppConfig):
    name = "knox"
    verbose_name = "API tokens"


class LoginAttemptsConfig(AxesConfig):
    verbose_name = "Login attempts"


class AgentLensConfig(AppConfig):
    """The project itself; it keeps the roles as `roles.py` says."""

    name = "agentlens"

    def ready(self):
        from django.db.models.signals import post_migrate

        from .roles import keep_roles

        # Told once all permissions exist: after the last app that has tables.
        *_, last = (app for app in apps.get_app_configs() if app.models_module)
        post_migrate.connect(keep_roles, sender=last)

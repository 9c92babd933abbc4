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
    """The project itself, which updates the roles after every `migrate`."""

    name = "agentlens"

    def ready(self) -> None:
        from django.db.models.signals import post_migrate

        from .roles import sync_roles

        # `post_migrate` is sent app by app. Permissions of all apps exist only after
        # the last app that has models.
        *_, last = (app for app in apps.get_app_configs() if app.models_module)
        post_migrate.connect(sync_roles, sender=last)

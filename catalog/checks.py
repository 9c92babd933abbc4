"""System checks of the settings that the catalog needs in a project."""

from typing import Any

from django.apps import apps
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DEFAULT_DB_ALIAS, connections
from django.utils.module_loading import import_string

from .conf import conf, find_lease_error, iter_declared_settings

REQUIRED_APPS = (
    "capabilities",
    "django.contrib.messages",
)
REQUIRED_MIDDLEWARE = (
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
)
REQUIRED_CONTEXT_PROCESSORS = (
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
)
SUPPORTED_DATABASES = ("postgresql", "sqlite")


@register("catalog")
def check_settings(**options: Any) -> list[CheckMessage]:
    """Check that each setting is valid (E001) and the lease is long enough (E002)."""
    invalid = [setting for setting in iter_declared_settings() if setting.error]
    if invalid:
        return [
            Error(f"{setting.name} {setting.error}", id="catalog.E001")
            for setting in invalid
        ]
    if error := find_lease_error(conf.PROBE_LEASE, conf.PROBE_TIMEOUT):
        hint = "A probe must end before another prober can claim the agent."
        return [Error(error, hint=hint, id="catalog.E002")]
    return []


@register("catalog")
def check_installed_apps(**options: Any) -> list[CheckMessage]:
    """Check for required apps (E003) and for optional ones (W001, W002)."""
    messages: list[CheckMessage] = [
        Error(f"{name!r} must be in INSTALLED_APPS.", id="catalog.E003")
        for name in REQUIRED_APPS
        if not apps.is_installed(name)
    ]
    if not apps.is_installed("django_htmx"):
        hint = "Add 'django_htmx' to INSTALLED_APPS."
        text = (
            "Without django_htmx, search results update only when a form is submitted."
        )
        messages.append(checks.Warning(text, hint=hint, id="catalog.W001"))
    if not apps.is_installed("django.contrib.admin"):
        hint = "Add 'django.contrib.admin' to INSTALLED_APPS."
        text = "Without the admin, edits of catalog entries are not logged."
        messages.append(checks.Warning(text, hint=hint, id="catalog.W002"))
    return messages


@register("catalog")
def check_middleware(**options: Any) -> list[CheckMessage]:
    """Check for sessions, authentication and messages in MIDDLEWARE (E006)."""
    return [
        Error(f"{path!r} must be in MIDDLEWARE.", id="catalog.E006")
        for path in REQUIRED_MIDDLEWARE
        if not has_middleware(import_string(path))
    ]


def has_middleware(required: type) -> bool:
    """Return whether the class or a subclass is in MIDDLEWARE."""
    installed = map(import_string, settings.MIDDLEWARE)
    return any(isinstance(m, type) and issubclass(m, required) for m in installed)


@register(Tags.templates, "catalog")
def check_templates(**options: Any) -> list[CheckMessage]:
    """Check that a template engine can render the pages of the catalog (E004)."""
    engines = [
        engine for engine in settings.TEMPLATES if can_load_app_templates(engine)
    ]
    if any(has_context_processors(engine) for engine in engines):
        return []
    processors = ", ".join(REQUIRED_CONTEXT_PROCESSORS)
    hint = f"Set APP_DIRS to True and add to context_processors: {processors}."
    text = "No template engine can render the pages of the catalog."
    return [Error(text, hint=hint, id="catalog.E004")]


def can_load_app_templates(engine: dict[str, Any]) -> bool:
    is_django = engine.get("BACKEND", "").endswith("DjangoTemplates")
    loaders = engine.get("OPTIONS", {}).get("loaders")
    return is_django and bool(engine.get("APP_DIRS") or loaders)


def has_context_processors(engine: dict[str, Any]) -> bool:
    processors = engine.get("OPTIONS", {}).get("context_processors", ())
    return set(REQUIRED_CONTEXT_PROCESSORS) <= set(processors)


@register("catalog")
def check_database(**options: Any) -> list[CheckMessage]:
    """Check that search supports the database (E005)."""
    vendor = connections[DEFAULT_DB_ALIAS].vendor
    if vendor in SUPPORTED_DATABASES:
        return []
    text = f"The catalog does not support the database {vendor!r}."
    return [Error(text, hint="Use SQLite or PostgreSQL.", id="catalog.E005")]

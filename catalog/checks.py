"""System checks: what a project that installs the catalog lacks or contradicts."""

from typing import Any

from django.apps import apps
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DEFAULT_DB_ALIAS, connections
from django.utils.module_loading import import_string

from .conf import conf, declared_settings, lease_error

REQUIRED_APPS = (
    "capabilities",
    "django.contrib.messages",
)
MIDDLEWARE = (
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
)
CONTEXT_PROCESSORS = (
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
)
DATABASES = ("postgresql", "sqlite")


@register("catalog")
def check_settings(**options: Any) -> list[CheckMessage]:
    """E001: each setting is valid; E002: none contradicts another."""
    faulty = [setting for setting in declared_settings() if setting.error]
    if faulty:
        return [
            Error(f"{setting.name} {setting.error}", id="catalog.E001")
            for setting in faulty
        ]
    if fault := lease_error(conf.PROBE_LEASE, conf.PROBE_TIMEOUT):
        hint = "A probe must end before another prober may claim its agent."
        return [Error(fault, hint=hint, id="catalog.E002")]
    return []


@register("catalog")
def check_installed_apps(**options: Any) -> list[CheckMessage]:
    """E003: what the catalog needs is installed; W001, W002: so is what it can use."""
    messages: list[CheckMessage] = [
        Error(f"{name!r} must be in INSTALLED_APPS.", id="catalog.E003")
        for name in REQUIRED_APPS
        if not apps.is_installed(name)
    ]
    if not apps.is_installed("django_htmx"):
        hint = "Add 'django_htmx' to INSTALLED_APPS."
        text = "Without django_htmx the pages work, but do not update as one types."
        messages.append(checks.Warning(text, hint=hint, id="catalog.W001"))
    if not apps.is_installed("django.contrib.admin"):
        hint = "Add 'django.contrib.admin' to INSTALLED_APPS."
        text = "Without the admin no history of curated changes is kept."
        messages.append(checks.Warning(text, hint=hint, id="catalog.W002"))
    return messages


@register("catalog")
def check_middleware(**options: Any) -> list[CheckMessage]:
    """E006: the pages know who asks and can show messages."""
    return [
        Error(f"{path!r} must be in MIDDLEWARE.", id="catalog.E006")
        for path in MIDDLEWARE
        if not has_middleware(import_string(path))
    ]


def has_middleware(wanted: type) -> bool:
    """Whether it, or a subclass of it, is installed."""
    installed = map(import_string, settings.MIDDLEWARE)
    return any(isinstance(m, type) and issubclass(m, wanted) for m in installed)


@register(Tags.templates, "catalog")
def check_templates(**options: Any) -> list[CheckMessage]:
    """E004: some template engine finds the catalog's pages and their context."""
    engines = [engine for engine in settings.TEMPLATES if finds_apps(engine)]
    if any(has_context(engine) for engine in engines):
        return []
    missing = "context_processors " + ", ".join(CONTEXT_PROCESSORS)
    hint = f"Set APP_DIRS to True and add to OPTIONS the {missing}."
    text = "No template engine can render the pages of the catalog."
    return [Error(text, hint=hint, id="catalog.E004")]


def finds_apps(engine: dict[str, Any]) -> bool:
    is_django = engine.get("BACKEND", "").endswith("DjangoTemplates")
    loaders = engine.get("OPTIONS", {}).get("loaders")
    return is_django and bool(engine.get("APP_DIRS") or loaders)


def has_context(engine: dict[str, Any]) -> bool:
    processors = engine.get("OPTIONS", {}).get("context_processors", ())
    return set(CONTEXT_PROCESSORS) <= set(processors)


@register("catalog")
def check_database(**options: Any) -> list[CheckMessage]:
    """E005: the search index knows this kind of database."""
    vendor = connections[DEFAULT_DB_ALIAS].vendor
    if vendor in DATABASES:
        return []
    text = f"The catalog cannot search a database of the kind {vendor!r}."
    return [Error(text, hint="Use SQLite or PostgreSQL.", id="catalog.E005")]

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class CatalogConfig(AppConfig):
    name = "catalog"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.urls.converters import get_converters, register_converter

        from capabilities.interfaces import extenders, introspectors

        from . import checks  # noqa: F401 - registers the system checks
        from .events import send_entry_event, subscribe
        from .integrations.a2a import A2ACardExtender
        from .integrations.mcp import MCPIntrospector
        from .models import CapabilityKeyConverter

        # Django calls this again in tests that override INSTALLED_APPS.
        if "capability_key" not in get_converters():
            register_converter(CapabilityKeyConverter, "capability_key")
        subscribe(send_entry_event)
        if MCPIntrospector.slug not in introspectors:
            introspectors.register(MCPIntrospector())
        if A2ACardExtender.slug not in extenders:
            extenders.register(A2ACardExtender())
        post_migrate.connect(restore_text_index, sender=self)


def restore_text_index(using: str, **kwargs: Any) -> None:
    """Restore the text index after a migration that rebuilt the table."""
    from django.db import connections

    from .models import SearchRow
    from .search import create_text_index

    connection = connections[using]
    if SearchRow._meta.db_table in connection.introspection.table_names():
        create_text_index(connection)

from django.apps import AppConfig


class CatalogConfig(AppConfig):
    """The agents we know."""

    name = "catalog"

    def ready(self):
        from django.urls import register_converter

        from .converters import CapabilityKeyConverter

        register_converter(CapabilityKeyConverter, "capability_key")

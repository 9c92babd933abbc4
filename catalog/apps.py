from django.apps import AppConfig


class CatalogConfig(AppConfig):
    """The agents we know."""

    name = "catalog"

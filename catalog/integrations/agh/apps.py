from django.apps import AppConfig


class AGHConfig(AppConfig):
    """Support for AGH envelopes, peers and local catalogs; optional."""

    name = "catalog.integrations.agh"
    label = "agh"
    verbose_name = "AGH"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from ...registration import add_folder_reader
        from ...worker import add_periodic_task
        from .inbox import delete_expired_envelopes
        from .local_files import LocalCatalogReader

        add_folder_reader(LocalCatalogReader())
        add_periodic_task(delete_expired_envelopes, seconds=600.0)

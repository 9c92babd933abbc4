from django.apps import AppConfig


class RoutingConfig(AppConfig):
    """Who takes the next request."""

    name = "routing"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self):
        from django.db.models.signals import post_delete

        from catalog.events import subscribe
        from catalog.health import register_probe_source
        from catalog.worker import add_periodic_task

        from . import cleanup, config_agents, events
        from .health_checks import HealthChecks
        from .models import CapabilityRegistration

        subscribe(config_agents.sync_ingested_entry)
        subscribe(events.publish_agent_health)
        register_probe_source(HealthChecks())
        add_periodic_task(cleanup.remove_drained, seconds=5.0)
        add_periodic_task(cleanup.delete_old_counts, seconds=600.0)
        # Registrations also go with their agent, where no code of ours is asked.
        post_delete.connect(events.publish_unregistered, sender=CapabilityRegistration)

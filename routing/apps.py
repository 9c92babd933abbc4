from django.apps import AppConfig


class RoutingConfig(AppConfig):
    """Registrations of agents for capabilities, and routing decisions."""

    name = "routing"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.db.models.signals import post_delete

        from catalog.events import subscribe
        from catalog.health import register_probe_targets
        from catalog.worker import add_periodic_task

        from . import cleanup, config_agents, events
        from .health_checks import RegistrationTargets
        from .models import CapabilityRegistration

        subscribe(config_agents.sync_ingested_entry)
        subscribe(events.publish_agent_health)
        register_probe_targets(RegistrationTargets())
        add_periodic_task(cleanup.remove_drained_registrations, seconds=5.0)
        add_periodic_task(cleanup.delete_old_counts, seconds=600.0)
        # Deleting an agent also deletes its registrations, without our service.
        post_delete.connect(events.publish_unregistered, sender=CapabilityRegistration)

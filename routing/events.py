"""Events of registrations, sent to `/ws/capabilities` after commit."""

from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db import transaction
from django.utils import timezone

from capabilities.validators import find_registration_name_error
from catalog.events import (
    EventConsumerMixin,
    LiveConsumer,
    LiveStream,
    StateChanged,
    parse_query,
    send_to_group,
)
from catalog.models import Status

from .models import HEALTH_BY_STATUS, CapabilityRegistration

REGISTRY_GROUP = "capabilities"
HEALTH_CHECK_FAILED = "HEALTH_CHECK_FAILED"


def format_timestamp(moment: datetime | None) -> str | None:
    """Return RFC 3339 in UTC, to the second; the whole registry uses this format."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}" if moment else None


def publish_event(
    event_type: str, registration: CapabilityRegistration, data: dict[str, Any]
) -> None:
    message = {
        "type": event_type,
        "data": {
            "agent_id": registration.agent_id,
            "capability": registration.capability,
            **data,
        },
        "timestamp": format_timestamp(timezone.now()),
    }
    transaction.on_commit(lambda: send_to_group(REGISTRY_GROUP, message), robust=True)


def publish_registered(registration: CapabilityRegistration) -> None:
    data = {"priority": registration.priority}
    publish_event("capability_registered", registration, data)


def publish_updated(
    registration: CapabilityRegistration, changed: Iterable[str]
) -> None:
    data = {"priority": registration.priority, "changed": sorted(changed)}
    publish_event("capability_updated", registration, data)


def publish_unregistered(instance: CapabilityRegistration, **kwargs: Any) -> None:
    """Handle the `post_delete` signal."""
    data = {"registration_id": instance.pk}
    publish_event("capability_unregistered", instance, data)


def publish_health_changed(
    registration: CapabilityRegistration, before: str, after: str, error: str
) -> None:
    """Publish a change between two states, unless both mean the same health."""
    old_health, new_health = HEALTH_BY_STATUS[before], HEALTH_BY_STATUS[after]
    if old_health == new_health:
        return
    data = {"old_status": old_health, "new_status": new_health}
    if error:
        data |= {"error": error, "code": HEALTH_CHECK_FAILED}
    publish_event("capability_health_changed", registration, data)


def publish_agent_health(event: Any) -> None:
    """Publish the new health of the agent's registrations after a change of state."""
    if not isinstance(event, StateChanged):
        return
    registrations = CapabilityRegistration.objects.not_drained().defer(
        "window", "metadata"
    )
    for registration in registrations.filter(entry=event.entry_id):
        before = derive_state(registration, event.before)
        after = derive_state(registration, event.after)
        publish_health_changed(registration, before, after, event.error)


def get_current_state(registration: CapabilityRegistration) -> str:
    """Return the state of the registration, given the stored state of its agent."""
    return derive_state(registration, registration.entry.status)


def derive_state(registration: CapabilityRegistration, agent_state: str) -> str:
    """Return the state of the registration's own check, or else of its agent.

    A deprecated agent always counts as deprecated.
    """
    if registration.has_own_check and agent_state != Status.DEPRECATED:
        return registration.check_state
    return agent_state


class RegistryEventsMixin(EventConsumerMixin):
    """Registry events, optionally limited to the capabilities in `?capability=`."""

    permission = "routing.view_capabilityregistration"
    group = REGISTRY_GROUP
    scope: dict[str, Any]
    allowed_parameters = ("capability",)

    @classmethod
    def find_query_error(cls, query: bytes) -> str:
        """Return what is wrong with the query string, or '' if it is valid."""
        if error := super().find_query_error(query):
            return error
        for name in parse_query(query).get("capability", []):
            if error := find_registration_name_error(name):
                return f"capability {error}"
        return ""

    @cached_property
    def capabilities(self) -> set[str]:
        return set(parse_query(self.scope["query_string"]).get("capability", []))

    def wants_event(self, content: dict[str, Any]) -> bool:
        capability = content["data"]["capability"]
        return not self.capabilities or capability in self.capabilities


class RegistryConsumer(RegistryEventsMixin, LiveConsumer):
    """Registry events over a WebSocket."""


class RegistryStream(RegistryEventsMixin, LiveStream):
    """Registry events as server-sent events."""

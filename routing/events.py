"""What happens to registrations, told after commit on `/ws/capabilities`."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from django.db import transaction
from django.utils import timezone

from capabilities.validators import capability_name_error
from catalog.events import (
    LiveConsumer,
    LiveStream,
    StateChanged,
    query_parameters,
    send_to_group,
)
from catalog.models import Status

from .models import HEALTH_BY_STATUS, CapabilityRegistration

REGISTRY_GROUP = "capabilities"
HEALTH_CHECK_FAILED = "HEALTH_CHECK_FAILED"


def format_timestamp(moment=None) -> str | None:
    """RFC 3339 in UTC, to the second, as everywhere in the registry."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}" if moment else None


def publish_event(kind: str, registration: CapabilityRegistration, **data: Any) -> None:
    told = {
        "type": kind,
        "data": {
            "agent_id": registration.agent_id,
            "capability": registration.capability,
            **data,
        },
        "timestamp": format_timestamp(timezone.now()),
    }
    transaction.on_commit(lambda: send_to_group(REGISTRY_GROUP, told), robust=True)


def publish_registered(registration: CapabilityRegistration) -> None:
    publish_event("capability_registered", registration, priority=registration.priority)


def publish_updated(
    registration: CapabilityRegistration, changed: Iterable[str]
) -> None:
    told = {"priority": registration.priority, "changed": sorted(changed)}
    publish_event("capability_updated", registration, **told)


def publish_unregistered(instance: CapabilityRegistration, **signalled: Any) -> None:
    told = {"registration_id": instance.pk}
    publish_event("capability_unregistered", instance, **told)


def publish_health_changed(
    registration: CapabilityRegistration, before: str, after: str, error: str
) -> None:
    """Between states of the catalog that mean another health here."""
    old, new = HEALTH_BY_STATUS[before], HEALTH_BY_STATUS[after]
    if old == new:
        return
    told = {"old_status": old, "new_status": new}
    if error:
        told |= {"error": error, "code": HEALTH_CHECK_FAILED}
    publish_event("capability_health_changed", registration, **told)


def publish_agent_health(event: Any) -> None:
    """What an agent's new state means for each of its offers."""
    if not isinstance(event, StateChanged):
        return
    offers = CapabilityRegistration.objects.present().defer("window", "metadata")
    for registration in offers.filter(entry=event.entry_id):
        before, after = (
            get_state(registration, state) for state in (event.before, event.after)
        )
        publish_health_changed(registration, before, after, event.error)


def current_state(registration: CapabilityRegistration) -> str:
    return get_state(registration, registration.entry.status)


def get_state(registration: CapabilityRegistration, state: str) -> str:
    """A check of its own tells how it is, unless its agent is given up."""
    own = registration.has_own_check and state != Status.DEPRECATED
    return registration.check_state if own else state


class RegistryEventsMixin:
    """Every event, or those of the capabilities named in `?capability=`."""

    permission = "routing.view_capabilityregistration"
    group = REGISTRY_GROUP
    allowed_parameters = ("capability",)

    @classmethod
    def query_error(cls, query: bytes) -> str:
        """A name that no capability has would be waited for in vain."""
        names = query_parameters(query).get("capability", [])
        wrong = next((name for name in names if capability_name_error(name)), None)
        told = "" if wrong is None else f"capability {capability_name_error(wrong)}"
        return super().query_error(query) or told

    @cached_property
    def capabilities(self) -> set[str]:
        return set(query_parameters(self.scope["query_string"]).get("capability", []))

    def wants_event(self, content: dict[str, Any]) -> bool:
        told = content["data"]["capability"]
        return not self.capabilities or told in self.capabilities


class RegistryConsumer(RegistryEventsMixin, LiveConsumer):
    """Over a WebSocket."""


class RegistryStream(RegistryEventsMixin, LiveStream):
    """As server-sent events."""

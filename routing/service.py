"""Creating, changing and removing registrations, each in one transaction."""

import contextlib
import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, TypedDict, Unpack

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from catalog.models import CatalogEntry

from . import events
from .conf import conf
from .health_checks import reset_health_check
from .models import CapabilityRegistration, DesiredState, RegistrationQuerySet

# The names of fields in the API, where they differ.
API_FIELD_NAMES = {"desired_state": "status"}
# Another process may add and remove the same registration between two attempts.
INSERT_ATTEMPTS = 5


class RegistrationFields(TypedDict, total=False):
    """The fields of a new registration that have defaults."""

    version: str
    priority: int
    metadata: dict[str, Any]
    health_check_url: str
    declared: bool


class AlreadyRegisteredError(Exception):
    """The agent is already registered for this capability."""


def find_agent(agent_id: str) -> CatalogEntry | None:
    """Return the entry with this ID or agent key."""
    entries = CatalogEntry.objects.select_related("agent_type")
    entries = entries.defer("agent_type__raw_definition")
    condition = Q(agent_key=agent_id)
    with contextlib.suppress(ValidationError):
        condition |= Q(pk=CatalogEntry._meta.pk.to_python(agent_id))
    return entries.filter(condition).first()


def register(
    entry: CatalogEntry,
    capability: str,
    **fields: Unpack[RegistrationFields],
) -> CapabilityRegistration:
    """Register an agent for a capability.

    Raise AlreadyRegisteredError if it is registered, and CatalogEntry.DoesNotExist if
    the entry was deleted.
    """
    return add_registration(
        CapabilityRegistration(entry=entry, capability=capability, **fields)
    )


def add_registration(registration: CapabilityRegistration) -> CapabilityRegistration:
    """Save a new registration; raise AlreadyRegisteredError if there is one.

    Raise CatalogEntry.DoesNotExist if the entry was deleted.
    """
    reset_health_check(registration)
    existing = CapabilityRegistration.objects.filter(
        entry=registration.entry, capability=registration.capability
    )
    for _ in range(INSERT_ATTEMPTS):
        try:
            return insert_registration(registration)
        except IntegrityError as error:
            if existing.exists():
                raise AlreadyRegisteredError from error
    raise AlreadyRegisteredError


@transaction.atomic
def insert_registration(registration: CapabilityRegistration) -> CapabilityRegistration:
    # Lock the agent before its registrations, in the same order as everywhere else.
    entries = CatalogEntry.objects.select_for_update(no_key=True)
    entry = entries.get(pk=registration.entry_id)
    registrations = CapabilityRegistration.objects.filter(entry=entry)
    remove_registrations(registrations.filter(drain_until__lte=timezone.now()))
    registration.save(force_insert=True)
    events.publish_registered(registration)
    return registration


def canonical_json(value: Any) -> str:
    """Return JSON text for comparing values; in it, true and 1 differ."""
    return json.dumps(value, sort_keys=True)


@transaction.atomic
def update(
    registration: CapabilityRegistration, changes: dict[str, Any]
) -> CapabilityRegistration:
    """Set fields by name and publish those whose values changed.

    Raise CapabilityRegistration.DoesNotExist if the registration was removed.
    """
    rows = CapabilityRegistration.objects.select_for_update(of=("self",))
    rows = rows.defer("window").select_related("entry__agent_type")
    current: CapabilityRegistration | None = rows.filter(pk=registration.pk).first()
    if current is None:
        raise CapabilityRegistration.DoesNotExist
    changed = [
        name
        for name, value in changes.items()
        if canonical_json(getattr(current, name)) != canonical_json(value)
    ]
    for name in changed:
        setattr(current, name, changes[name])
    update_dependent_fields(current, changed)
    if changed:
        current.updated_at = timezone.now()
        current.save()
        events.publish_updated(
            current, (API_FIELD_NAMES.get(name, name) for name in changed)
        )
    return current


def update_dependent_fields(
    registration: CapabilityRegistration, changed: Iterable[str]
) -> None:
    """Reset the health check and set or clear the drain deadline if needed."""
    if "health_check_url" in changed:
        before = events.get_current_state(registration)
        reset_health_check(registration)
        registration.check_hours.all().delete()
        after = events.get_current_state(registration)
        events.publish_health_changed(registration, before, after, "")
    if "desired_state" in changed:
        is_draining = registration.desired_state == DesiredState.DRAINING
        registration.drain_until = drain_deadline() if is_draining else None


def unregister(registration: CapabilityRegistration, drain: bool = False) -> None:
    """Remove a registration, or start draining it.

    Raise CapabilityRegistration.DoesNotExist if it was removed already.
    """
    if drain:
        update(registration, {"desired_state": DesiredState.DRAINING})
    elif not remove_registrations(
        CapabilityRegistration.objects.filter(pk=registration.pk)
    ):
        raise CapabilityRegistration.DoesNotExist


@transaction.atomic
def remove_registrations(registrations: RegistrationQuerySet) -> int:
    """Delete these registrations and return how many there were.

    Their rows are locked first. Of several concurrent calls, only one deletes a row and
    publishes its removal.
    """
    locked = registrations.order_by("pk").select_for_update(of=("self",))
    ids = list(locked.values_list("pk", flat=True))
    CapabilityRegistration.objects.filter(pk__in=ids).delete()
    return len(ids)


def drain_deadline() -> datetime:
    """Return when a registration that starts draining now is removed."""
    return timezone.now() + timedelta(seconds=conf.DRAIN_SECONDS)

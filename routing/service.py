"""Registering, changing and taking back offers: each in one transaction."""

import contextlib
import json
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from catalog.models import CatalogEntry

from . import events
from .conf import conf
from .health_checks import reset_health_check
from .models import CapabilityRegistration, DesiredState, RegistrationQuerySet

# A status is what callers see; what they may set is the intent.
API_FIELD_NAMES = {"intent": "status"}
# Others may register and take back the same meanwhile, a few times.
INSERT_ATTEMPTS = 5


class AlreadyRegisteredError(Exception):
    """The agent offers this capability already."""


def find_agent(agent_id: str) -> CatalogEntry | None:
    """The entry with this id or this agent key."""
    entries = CatalogEntry.objects.select_related("agent_type")
    entries = entries.defer("agent_type__raw_definition")
    known = Q(agent_key=agent_id)
    with contextlib.suppress(ValidationError):
        known |= Q(pk=CatalogEntry._meta.pk.to_python(agent_id))
    return entries.filter(known).first()


def register(
    entry: CatalogEntry, capability: str, **offer: Any
) -> CapabilityRegistration:
    """A new offer; the database itself keeps one per agent and capability."""
    return add_registration(
        CapabilityRegistration(entry=entry, capability=capability, **offer)
    )


def add_registration(registration: CapabilityRegistration) -> CapabilityRegistration:
    """The same for one that somebody filled in already."""
    reset_health_check(registration)
    entry, name = registration.entry, registration.capability
    for _ in range(INSERT_ATTEMPTS):
        try:
            return insert_registration(registration)
        except IntegrityError as error:
            mine = CapabilityRegistration.objects.filter(entry=entry, capability=name)
            if mine.exists():
                raise AlreadyRegisteredError from error
    raise AlreadyRegisteredError


@transaction.atomic
def insert_registration(registration: CapabilityRegistration) -> CapabilityRegistration:
    # The agent first, as everybody does who changes several of its offers.
    agents = CatalogEntry.objects.select_for_update(no_key=True)
    entry = agents.get(pk=registration.entry_id)
    drained = {"entry": entry, "drain_until__lte": timezone.now()}
    remove_registrations(CapabilityRegistration.objects.filter(**drained))
    registration.save(force_insert=True)
    events.publish_registered(registration)
    return registration


def canonical_json(value: Any) -> str:
    """To compare by: there, true is not 1."""
    return json.dumps(value, sort_keys=True)


@transaction.atomic
def update(
    registration: CapabilityRegistration, changes: dict[str, Any]
) -> CapabilityRegistration:
    """Change what is named; what is told is what really became another."""
    rows = CapabilityRegistration.objects.select_for_update(of=("self",))
    rows = rows.defer("window").select_related("entry__agent_type")
    current: CapabilityRegistration | None = rows.filter(pk=registration.pk).first()
    if current is None:
        raise CapabilityRegistration.DoesNotExist
    changed = [
        n
        for n in changes
        if canonical_json(getattr(current, n)) != canonical_json(changes[n])
    ]
    for name in changed:
        setattr(current, name, changes[name])
    if "health_check_url" in changed:
        before = events.current_state(current)
        reset_health_check(current)
        current.check_hours.all().delete()
        events.publish_health_changed(
            current, before, events.current_state(current), ""
        )
    if "intent" in changed:
        current.drain_until = (
            drain_deadline() if current.intent == DesiredState.DRAINING else None
        )
    if changed:
        current.updated_at = timezone.now()
        current.save()
        events.publish_updated(
            current, (API_FIELD_NAMES.get(name, name) for name in changed)
        )
    return current


def unregister(registration: CapabilityRegistration, drain: bool = False) -> None:
    """Now; or with `drain` take no more traffic at once and go a little later."""
    if drain:
        update(registration, {"intent": DesiredState.DRAINING})
    elif not remove_registrations(
        CapabilityRegistration.objects.filter(pk=registration.pk)
    ):
        raise CapabilityRegistration.DoesNotExist


@transaction.atomic
def remove_registrations(registrations: RegistrationQuerySet) -> int:
    """All of them; what somebody else removed meanwhile goes, and is told, once."""
    held = registrations.order_by("pk").select_for_update(of=("self",))
    mine = list(held.values_list("pk", flat=True))
    CapabilityRegistration.objects.filter(pk__in=mine).delete()
    return len(mine)


def drain_deadline() -> datetime:
    """When what drains from now on is removed."""
    return timezone.now() + timedelta(seconds=conf.DRAIN_SECONDS)

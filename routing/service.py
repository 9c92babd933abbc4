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
from .health_checks import start_over
from .models import CapabilityRegistration, Intent, RegistrationQuerySet

# A status is what callers see; what they may set is the intent.
TOLD = {"intent": "status"}
# Others may register and take back the same meanwhile, a few times.
ATTEMPTS = 5


class DuplicateRegistration(Exception):
    """The agent offers this capability already."""


def agent(agent_id: str) -> CatalogEntry | None:
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
    return adopt(CapabilityRegistration(entry=entry, capability=capability, **offer))


def adopt(registration: CapabilityRegistration) -> CapabilityRegistration:
    """The same for one that somebody filled in already."""
    start_over(registration)
    entry, name = registration.entry, registration.capability
    for _ in range(ATTEMPTS):
        try:
            return write(registration)
        except IntegrityError as error:
            mine = CapabilityRegistration.objects.filter(entry=entry, capability=name)
            if mine.exists():
                raise DuplicateRegistration from error
    raise DuplicateRegistration


@transaction.atomic
def write(registration: CapabilityRegistration) -> CapabilityRegistration:
    # The agent first, as everybody does who changes several of its offers.
    agents = CatalogEntry.objects.select_for_update(no_key=True)
    entry = agents.get(pk=registration.entry_id)
    drained = {"entry": entry, "drain_until__lte": timezone.now()}
    remove(CapabilityRegistration.objects.filter(**drained))
    registration.save(force_insert=True)
    events.tell_registered(registration)
    return registration


def as_json(value: Any) -> str:
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
        n for n in changes if as_json(getattr(current, n)) != as_json(changes[n])
    ]
    for name in changed:
        setattr(current, name, changes[name])
    if "health_check_url" in changed:
        before = events.state_of(current)
        start_over(current)
        current.check_hours.all().delete()
        events.tell_health_changed(current, before, events.state_of(current), "")
    if "intent" in changed:
        current.drain_until = drain_end() if current.intent == Intent.DRAINING else None
    if changed:
        current.updated_at = timezone.now()
        current.save()
        events.tell_updated(current, (TOLD.get(name, name) for name in changed))
    return current


def unregister(registration: CapabilityRegistration, drain: bool = False) -> None:
    """Now; or with `drain` take no more traffic at once and go a little later."""
    if drain:
        update(registration, {"intent": Intent.DRAINING})
    elif not remove(CapabilityRegistration.objects.filter(pk=registration.pk)):
        raise CapabilityRegistration.DoesNotExist


@transaction.atomic
def remove(registrations: RegistrationQuerySet) -> int:
    """All of them; what somebody else removed meanwhile goes, and is told, once."""
    held = registrations.order_by("pk").select_for_update(of=("self",))
    mine = list(held.values_list("pk", flat=True))
    CapabilityRegistration.objects.filter(pk__in=mine).delete()
    return len(mine)


def drain_end() -> datetime:
    """When what drains from now on is removed."""
    return timezone.now() + timedelta(seconds=conf.DRAIN_SECONDS)

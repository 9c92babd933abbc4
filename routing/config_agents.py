"""Configuration agents offer what their file declares, and no longer what it drops."""

from typing import Any
from uuid import UUID

from django.db import transaction

from catalog.events import EntryIngested
from catalog.models import CatalogEntry

from . import service
from .models import CapabilityRegistration, DesiredState

CONFIG_PROTOCOL, CONFIG_CAPABILITY_KIND = "config", "config.capability"


def sync_ingested_entry(event: Any) -> None:
    """Also when nothing changed: importing again mends what went wrong before."""
    if isinstance(event, EntryIngested):
        entries = CatalogEntry.objects.filter(agent_type__protocol=CONFIG_PROTOCOL)
        if entries.filter(pk=event.entry_id).exists():
            sync_registrations(event.entry_id)


@transaction.atomic
def sync_registrations(entry_id: UUID) -> None:
    """Make the registrations what the file says; those made by hand stay."""
    # Whoever comes second sees what the first did, and the latest definition.
    agents = CatalogEntry.objects.select_for_update(no_key=True)
    entry = agents.filter(pk=entry_id).first()
    if entry is None:
        return
    rows = CapabilityRegistration.objects.select_for_update().defer("window")
    known = {row.capability: row for row in rows.present().filter(entry=entry)}
    for name, offer in declared(entry).items():
        registration = known.pop(name, None)
        if registration is None:
            service.register(entry, name, declared=True, **offer)
        elif registration.declared:
            # What drains is on its way out; the file says that it is not.
            back = {"intent": DesiredState.ACTIVE} if registration.drain_until else {}
            service.update(registration, offer | back)
    for registration in known.values():
        if registration.declared:
            service.unregister(registration)


def declared(entry: CatalogEntry) -> dict[str, dict[str, Any]]:
    """By name, what the definition says of each capability."""
    capabilities = entry.agent_type.capabilities.filter(kind=CONFIG_CAPABILITY_KIND)
    return {
        row.name: {
            "metadata": row.properties.get("metadata") or {},
            "version": row.properties.get("version") or "1.0.0",
        }
        for row in capabilities
    }

"""Registrations of configuration agents, synchronized with their files."""

from typing import Any
from uuid import UUID

from django.db import transaction

from catalog.events import EntryIngested
from catalog.models import CatalogEntry

from . import service
from .models import DEFAULT_VERSION, CapabilityRegistration, DesiredState

CONFIG_PROTOCOL, CONFIG_CAPABILITY_KIND = "config", "config.capability"


def sync_ingested_entry(event: Any) -> None:
    """Synchronize the registrations of an ingested configuration agent.

    An unchanged definition is synchronized too, so that importing a file again repairs
    its registrations.
    """
    if isinstance(event, EntryIngested):
        entries = CatalogEntry.objects.filter(agent_type__protocol=CONFIG_PROTOCOL)
        if entries.filter(pk=event.entry_id).exists():
            sync_registrations(event.entry_id)


@transaction.atomic
def sync_registrations(entry_id: UUID) -> None:
    """Sync registrations with the file; keep those that it did not create."""
    # Concurrent calls wait for this lock, and then read the latest definition.
    entries = CatalogEntry.objects.select_for_update(no_key=True)
    entry = entries.filter(pk=entry_id).first()
    if entry is None:
        return
    rows = CapabilityRegistration.objects.select_for_update().defer("window")
    existing = {row.capability: row for row in rows.not_drained().filter(entry=entry)}
    for name, fields in get_declared_capabilities(entry).items():
        registration = existing.pop(name, None)
        if registration is None:
            service.register(entry, name, declared=True, **fields)
        elif registration.declared:
            changes = dict(fields)
            if registration.drain_until:
                # The file still declares the capability, so stop draining.
                changes["desired_state"] = DesiredState.ACTIVE
            service.update(registration, changes)
    for registration in existing.values():
        if registration.declared:
            service.unregister(registration)


def get_declared_capabilities(entry: CatalogEntry) -> dict[str, dict[str, Any]]:
    """Return the fields of each registration that the definition declares, by name."""
    capabilities = entry.agent_type.capabilities.filter(kind=CONFIG_CAPABILITY_KIND)
    return {
        row.name: {
            "metadata": row.properties.get("metadata") or {},
            "version": row.properties.get("version") or DEFAULT_VERSION,
        }
        for row in capabilities
    }

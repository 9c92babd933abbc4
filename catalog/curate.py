"""What people say about an entry, beside what its definition says."""

from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from . import search
from .models import CatalogEntry

FIELDS = (
    "display_name",
    "description",
    "categories",
    "metadata",
    "status",
    "validity_from",
    "validity_to",
)


def curate(
    entry: CatalogEntry,
    changes: dict[str, Any],
    by: AbstractBaseUser,
    reason: str = "",
) -> CatalogEntry:
    """Apply a curator's changes; who, what and why is kept in the entry's history."""
    altered = [name for name, value in changes.items() if getattr(entry, name) != value]
    if not altered:
        return entry
    for name in altered:
        setattr(entry, name, changes[name])
    if "status" in altered:
        entry.next_probe_at = timezone.now() if entry.can_be_probed else None
    with transaction.atomic():
        # Raises where somebody else deleted it meanwhile.
        CatalogEntry.objects.select_for_update().only("pk").get(pk=entry.pk)
        entry.save(update_fields=[*altered, "next_probe_at", "updated_at"])
        search.index(CatalogEntry.objects.filter(pk=entry.pk))
        remember(entry, by, history_message(entry, altered, reason))
    return entry


def history_message(entry: CatalogEntry, altered: list[str], reason: str) -> str:
    told = ", ".join(name.replace("_", " ") for name in altered if name != "status")
    parts = [f"Status set to {entry.status}."] if "status" in altered else []
    parts += [f"Changed {told}."] if told else []
    parts += [f"Reason: {reason}"] if reason else []
    return " ".join(parts)


def remember(entry: CatalogEntry, by: AbstractBaseUser, message: str) -> None:
    LogEntry.objects.log_actions(
        by.pk, [entry], CHANGE, change_message=message, single_object=True
    )

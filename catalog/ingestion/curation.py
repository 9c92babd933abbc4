"""What people say about an entry, beside what its definition says."""

from typing import Any

from django.apps import apps
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from ..models import CatalogEntry
from ..search import save_entry, state_change


def curate(
    entry: CatalogEntry,
    changes: dict[str, Any],
    by: AbstractBaseUser,
    reason: str = "",
) -> CatalogEntry:
    """Apply a curator's changes; who, what and why is kept in the entry's history.

    Raises where somebody else deleted it meanwhile.
    """
    with transaction.atomic():
        # As it is now: a probe may have been quicker than who looked at it.
        entry.refresh_from_db(from_queryset=CatalogEntry.objects.select_for_update())
        before = {name: getattr(entry, name) for name in changes}
        altered = [name for name in changes if before[name] != changes[name]]
        if altered:
            save_changes(entry, {name: changes[name] for name in altered})
            remember(entry, by, history_message(entry, altered, reason))
    return entry


def save_changes(entry: CatalogEntry, changes: dict[str, Any]) -> None:
    before = entry.status
    for name, value in changes.items():
        setattr(entry, name, value)
    written = [*changes, "updated_at"]
    events = []
    if "status" in changes:
        written += start_over(entry)
        events = [state_change(entry, before)]
    save_entry(entry, *events, fields=written)


def start_over(entry: CatalogEntry) -> list[str]:
    """What a person says of its state stands, until it is asked from now on."""
    now = timezone.now()
    entry.status_set_at = now
    entry.next_probe_at = now if entry.can_be_probed else None
    entry.consecutive_failures, entry.last_error = 0, ""
    return ["status_set_at", "next_probe_at", "consecutive_failures", "last_error"]


def history_message(entry: CatalogEntry, altered: list[str], reason: str) -> str:
    told = ", ".join(name.replace("_", " ") for name in altered if name != "status")
    parts = [f"Status set to {entry.status}."] if "status" in altered else []
    parts += [f"Changed {told}."] if told else []
    parts += [f"Reason: {reason}"] if reason else []
    return " ".join(parts)


def remember(entry: CatalogEntry, by: AbstractBaseUser, message: str) -> None:
    if not apps.is_installed("django.contrib.admin"):
        return
    from django.contrib.admin.models import CHANGE, LogEntry  # noqa: PLC0415

    LogEntry.objects.log_actions(
        by.pk, [entry], CHANGE, change_message=message, single_object=True
    )

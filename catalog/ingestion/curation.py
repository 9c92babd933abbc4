"""Changes that editors make to catalog entries."""

from typing import Any

from django.apps import apps
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from ..health import close_last_outcome
from ..models import CatalogEntry
from ..search import build_state_changed, save_entry


def curate(
    entry: CatalogEntry,
    changes: dict[str, Any],
    by: AbstractBaseUser,
    reason: str = "",
) -> CatalogEntry:
    """Apply an editor's changes and log them in the entry's admin history.

    Raise CatalogEntry.DoesNotExist if the entry was deleted in the meantime.
    """
    with transaction.atomic():
        # A probe may have changed the entry since the caller loaded it.
        entry.refresh_from_db(from_queryset=CatalogEntry.objects.select_for_update())
        before = {name: getattr(entry, name) for name in changes}
        changed = [name for name in changes if before[name] != changes[name]]
        if changed:
            save_changes(entry, {name: changes[name] for name in changed})
            log_change(entry, by, build_history_message(entry, changed, reason))
    return entry


def save_changes(entry: CatalogEntry, changes: dict[str, Any]) -> None:
    previous_status = entry.status
    for name, value in changes.items():
        setattr(entry, name, value)
    fields = [*changes, "updated_at"]
    events = []
    if "status" in changes:
        fields += reset_probe_state(entry)
        events = [build_state_changed(entry, previous_status)]
    save_entry(entry, *events, fields=fields)


def reset_probe_state(entry: CatalogEntry) -> list[str]:
    """Make the status that an editor set last until the next probe.

    Return the names of the changed fields.
    """
    now = timezone.now()
    close_last_outcome(entry, now)
    entry.status_set_at = now
    entry.next_probe_at = now if entry.can_be_probed else None
    entry.consecutive_failures, entry.last_error = 0, ""
    return [
        "status_set_at",
        "next_probe_at",
        "outcome_counts_until",
        "consecutive_failures",
        "last_error",
    ]


def build_history_message(entry: CatalogEntry, changed: list[str], reason: str) -> str:
    labels = [name.replace("_", " ") for name in changed if name != "status"]
    parts = [f"Status set to {entry.status}."] if "status" in changed else []
    parts += [f"Changed {', '.join(labels)}."] if labels else []
    parts += [f"Reason: {reason}"] if reason else []
    return " ".join(parts)


def log_change(entry: CatalogEntry, by: AbstractBaseUser, message: str) -> None:
    if not apps.is_installed("django.contrib.admin"):
        return
    from django.contrib.admin.models import CHANGE, LogEntry  # noqa: PLC0415

    LogEntry.objects.log_actions(
        by.pk, [entry], CHANGE, change_message=message, single_object=True
    )

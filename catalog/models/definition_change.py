"""The history of changes to definitions."""

from typing import Any

from django.db import models

from capabilities.kinds import is_removal_breaking


def is_breaking_removal(item: dict[str, Any]) -> bool:
    """Return whether a removed capability breaks clients.

    Changes that were recorded before this was stored are judged by the kind.
    """
    return bool(item.get("breaking", is_removal_breaking(item["kind"])))


class DefinitionChange(models.Model):
    """A replacement of an agent's definition by another one."""

    entry = models.ForeignKey(
        "catalog.CatalogEntry", on_delete=models.CASCADE, related_name="changes"
    )
    agent_type = models.ForeignKey(
        "catalog.AgentType", on_delete=models.CASCADE, related_name="changes"
    )
    recorded_at = models.DateTimeField(auto_now_add=True)
    previous_version = models.CharField(max_length=255, blank=True, default="")
    # SHA-256 of the new definition.
    digest = models.CharField(max_length=64)
    replaced_definition = models.BinaryField()
    # The capabilities that differ, as lists of {"kind", "name"}. Changed ones also have
    # `changes` and `omitted`, except in rows from before these were recorded.
    added = models.JSONField(default=list)
    removed = models.JSONField(default=list)
    changed = models.JSONField(default=list)
    # The changes of the agent's own fields, such as its version.
    fields = models.JSONField(default=list)
    # Whether clients may fail because of the change; why, in sentences.
    breaking = models.BooleanField(default=False)
    breaking_count = models.PositiveIntegerField(default=0)
    breaking_reasons = models.JSONField(default=list)

    class Meta:
        db_table = "definition_changes"
        ordering = ["-recorded_at", "-id"]

    def __str__(self) -> str:
        added, removed = len(self.added), len(self.removed)
        return f"{added} added, {removed} removed, {len(self.changed)} changed"

    @property
    def total_breaking(self) -> int:
        """The number of breaking changes, also of rows from before it was stored."""
        return self.breaking_count or sum(map(is_breaking_removal, self.removed))

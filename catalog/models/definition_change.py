"""The history of changes to definitions."""

from django.db import models


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
    # The capabilities that differ, as lists of {"kind", "name"}.
    added = models.JSONField(default=list)
    removed = models.JSONField(default=list)
    changed = models.JSONField(default=list)

    class Meta:
        db_table = "definition_changes"
        ordering = ["-recorded_at", "-id"]

    def __str__(self) -> str:
        added, removed = len(self.added), len(self.removed)
        return f"{added} added, {removed} removed, {len(self.changed)} changed"

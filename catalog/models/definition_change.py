from django.db import models


class DefinitionChange(models.Model):
    """One replacement of an agent's definition: when, by which bytes, what differs."""

    entry = models.ForeignKey(
        "catalog.CatalogEntry", on_delete=models.CASCADE, related_name="changes"
    )
    agent_type = models.ForeignKey(
        "catalog.AgentType", on_delete=models.CASCADE, related_name="changes"
    )
    recorded_at = models.DateTimeField(auto_now_add=True)
    previous_version = models.CharField(max_length=255, blank=True, default="")
    digest = models.CharField(max_length=64)
    replaced_definition = models.BinaryField()
    # Lists of {"kind", "name"}.
    added = models.JSONField(default=list)
    removed = models.JSONField(default=list)
    changed = models.JSONField(default=list)

    class Meta:
        db_table = "definition_changes"
        ordering = ["-recorded_at", "-id"]

    def __str__(self):
        counts = (len(self.added), len(self.removed), len(self.changed))
        return "{} added, {} removed, {} changed".format(*counts)

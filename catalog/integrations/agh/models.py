from django.db import models


class SeenEnvelope(models.Model):
    """An accepted envelope; another one with its key is a duplicate."""

    key = models.CharField(primary_key=True, max_length=64)
    until = models.DateTimeField(db_index=True)

    class Meta:
        app_label = "agh"
        db_table = "seen_envelopes"

    def __str__(self) -> str:
        return self.key


class Greeting(models.Model):
    """When a peer sent its latest greeting, by its own clock."""

    entry = models.OneToOneField(
        "catalog.CatalogEntry",
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="greeting",
    )
    greeted_at = models.DateTimeField()

    class Meta:
        app_label = "agh"
        db_table = "agh_greetings"

    def __str__(self) -> str:
        return f"{self.entry_id} at {self.greeted_at:%Y-%m-%d %H:%M:%S}"

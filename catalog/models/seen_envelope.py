from django.db import models


class SeenEnvelope(models.Model):
    """An AGH envelope that was taken; until then a second one is a duplicate."""

    key = models.CharField(primary_key=True, max_length=64)
    until = models.DateTimeField(db_index=True)

    class Meta:
        db_table = "seen_envelopes"

    def __str__(self):
        return self.key

from django.db import models

from .entry_text import FoldedTextField


class SearchRow(models.Model):
    """A capability of a reachable agent, folded for searching; all kinds.

    Written only by `catalog.search`. The integer key is what SQLite's text index knows.
    """

    id = models.BigAutoField(primary_key=True)
    capability = models.OneToOneField(
        "catalog.Capability", on_delete=models.CASCADE, related_name="row"
    )
    entry = models.ForeignKey(
        "catalog.CatalogEntry", on_delete=models.CASCADE, related_name="rows"
    )
    kind = FoldedTextField()
    name = FoldedTextField()
    entry_name = FoldedTextField()
    text = FoldedTextField()

    class Meta:
        db_table = "search_rows"
        # The two promised orders, each for all kinds and for one; and to count.
        indexes = [
            models.Index(
                fields=["name", "kind", "entry_name", "entry", "capability"],
                name="row_by_name",
            ),
            models.Index(
                fields=["kind", "name", "entry_name", "entry", "capability"],
                name="row_by_kind_name",
            ),
            models.Index(
                fields=["entry_name", "entry", "name", "kind", "capability"],
                name="row_by_entry",
            ),
            models.Index(
                fields=["kind", "entry_name", "entry", "name", "capability"],
                name="row_by_kind_entry",
            ),
            models.Index(fields=["kind"], name="row_by_kind"),
        ]

    def __str__(self):
        return self.name

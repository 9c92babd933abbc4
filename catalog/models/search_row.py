from django.db import models

from .entry_text import FoldedTextField


class SearchRow(models.Model):
    """The searchable text of a capability of a reachable agent, folded.

    Written only by `catalog.search`. The key is an integer for SQLite's text index.
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
        # For both sort orders, with and without a filter by kind, and for counting.
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

    def __str__(self) -> str:
        return self.name

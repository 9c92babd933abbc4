from django.db import models


class FoldedTextField(models.TextField):
    """Folded text in byte order on every database, not in a locale's."""

    def db_parameters(self, connection):
        # Not part of the type, which is also cast to: `text COLLATE "C"[]` is no SQL.
        parameters = super().db_parameters(connection)
        if connection.vendor == "postgresql":
            parameters["collation"] = "C"
        return parameters


class EntryText(models.Model):
    """What may be searched of an entry, folded; written only by `catalog.search`."""

    entry = models.OneToOneField(
        "catalog.CatalogEntry",
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="text",
    )
    name = FoldedTextField()
    text = FoldedTextField()
    categories = FoldedTextField(blank=True, default="")

    class Meta:
        db_table = "entry_texts"
        indexes = [models.Index(fields=["name", "entry"], name="entry_text_name")]

    def __str__(self):
        return str(self.entry_id)

from typing import TYPE_CHECKING

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

if TYPE_CHECKING:
    TextField = models.TextField[str, str]
else:
    TextField = models.TextField


class FoldedTextField(TextField):
    """Folded text, sorted by code point on every database."""

    def db_parameters(self, connection: BaseDatabaseWrapper) -> dict[str, str | None]:
        # Not set as part of the type: casts to `text COLLATE "C"[]` are invalid SQL.
        parameters = super().db_parameters(connection)
        if connection.vendor == "postgresql":
            parameters["collation"] = "C"
        return parameters


class EntryText(models.Model):
    """The searchable text of an entry, folded; written only by `catalog.search`."""

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

    def __str__(self) -> str:
        return str(self.entry_id)

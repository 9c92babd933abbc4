from typing import Any

from django.core.management.base import BaseCommand

from catalog.ingestion import reread_capabilities
from catalog.models import CatalogEntry
from catalog.search import rebuild_index

from ..progress import progress_bar


class Command(BaseCommand):
    help = (
        "Read the capabilities of all stored definitions again and rebuild the search"
        " index. Needed after an upgrade that reads more of definitions, after the"
        " index was damaged, or after the database was edited by hand."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        agent_keys = CatalogEntry.objects.values_list("agent_key", flat=True)
        with progress_bar(list(agent_keys), "Reading definitions") as progress:
            for agent_key in progress:
                reread_capabilities(agent_key)
        indexed_count = 0
        entries = range(CatalogEntry.objects.count())
        with progress_bar(entries, "Indexing") as progress:
            for count in rebuild_index():
                progress.update(count)
                indexed_count += count
        self.stdout.write(f"Entries indexed: {indexed_count}")

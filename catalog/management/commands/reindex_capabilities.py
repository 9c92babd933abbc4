from typing import Any

from django.core.management.base import BaseCommand

from catalog.models import CatalogEntry
from catalog.search import rebuild_index

from ..progress import progress_bar


class Command(BaseCommand):
    help = (
        "Rebuild the search index. Needed only after the index was damaged or the"
        " database was edited by hand."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        indexed_count = 0
        entries = range(CatalogEntry.objects.count())
        with progress_bar(entries, "Indexing") as progress:
            for count in rebuild_index():
                progress.update(count)
                indexed_count += count
        self.stdout.write(f"Entries indexed: {indexed_count}")

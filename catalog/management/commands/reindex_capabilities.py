from django.core.management.base import BaseCommand

from catalog.models import CatalogEntry
from catalog.search import rebuild_index

from ..progress import progress_bar


class Command(BaseCommand):
    help = "Rebuild the search index: needed only if it was damaged from outside."

    def handle(self, *args, **options):
        length, count = CatalogEntry.objects.count(), 0
        with progress_bar(None, "Indexing", length) as progress:
            for indexed in rebuild_index():
                progress.update(indexed)
                count += indexed
        self.stdout.write(f"{count} entries indexed")

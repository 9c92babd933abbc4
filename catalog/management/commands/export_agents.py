from argparse import FileType

from django.core.management.base import BaseCommand

from catalog.models import CatalogEntry
from catalog.registration import export_lines

from ..progress import progress_bar


class Command(BaseCommand):
    help = "Write the catalog as JSON lines, which import_agents reads again."

    def add_arguments(self, parser):
        parser.add_argument(
            "-o", "--output", type=FileType("w", encoding="utf-8"), default=None
        )

    def handle(self, *args, output, **options):
        length = CatalogEntry.objects.count()
        with progress_bar(export_lines(), "Exporting", length) as lines:
            for line in lines:
                (output or self.stdout).write(line + "\n")

from collections.abc import Callable

from django.core.management.base import BaseCommand, CommandError

from catalog.models import CatalogEntry
from catalog.registration import export_lines

from ..progress import progress_bar


class Command(BaseCommand):
    help = "Write the catalog as JSON lines, which import_agents reads again."

    def add_arguments(self, parser):
        parser.add_argument(
            "-o", "--output", default="-", help="A file; standard output without it."
        )

    def handle(self, *args, output, **options):
        if output == "-":
            write_lines(self.stdout.write)
            return
        try:
            with open(output, "w", encoding="utf-8") as file:
                write_lines(file.write)
        except OSError as error:
            raise CommandError(f"{output}: {error.strerror}") from error


def write_lines(write: Callable[[str], object]) -> None:
    length = CatalogEntry.objects.count()
    with progress_bar(export_lines(), "Exporting", length) as lines:
        for line in lines:
            write(line + "\n")

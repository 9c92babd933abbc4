from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from catalog.models import CatalogEntry
from catalog.registration import export_lines

from ..progress import progress_bar


class Command(BaseCommand):
    help = "Export the catalog as JSON Lines, which import_agents can read."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "-o",
            "--output",
            default="-",
            help="File to write to. Standard output if not given.",
        )

    def handle(self, *args: Any, output: str, **options: Any) -> None:
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

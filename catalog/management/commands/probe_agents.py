import asyncio
import contextlib
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from catalog import worker


class Command(BaseCommand):
    help = (
        "Run the background worker: make the probes and refreshes that are due, and run"
        " the periodic tasks."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--once",
            action="store_true",
            help="Do all work that is due, then exit.",
        )

    def handle(self, *args: Any, once: bool, **options: Any) -> None:
        if once:
            self.stdout.write(f"Probes made: {asyncio.run(worker.run_once())}")
            return
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(worker.run_until_stopped())

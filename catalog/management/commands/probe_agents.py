import asyncio
import contextlib
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from catalog import worker


class Command(BaseCommand):
    help = "Probe agents and refresh their definitions when they are due."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--once",
            action="store_true",
            help="Probe the agents that are due, then exit.",
        )

    def handle(self, *args: Any, once: bool, **options: Any) -> None:
        if once:
            self.stdout.write(f"{asyncio.run(worker.run_once())} agents probed")
            return
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(worker.run_until_stopped())

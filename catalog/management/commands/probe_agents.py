import asyncio
import contextlib

from django.core.management.base import BaseCommand

from catalog import worker


class Command(BaseCommand):
    help = "Probe agents as they come due, and refresh their definitions."

    def add_arguments(self, parser):
        parser.add_argument(
            "--once", action="store_true", help="Do what is due now, and end."
        )

    def handle(self, *args, once, **options):
        if once:
            self.stdout.write(f"{asyncio.run(worker.run_once())} agents probed")
            return
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(worker.run_until_stopped())

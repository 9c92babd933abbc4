"""Who is probed next: any number of probers share the work by leases."""

import asyncio
import contextlib
import logging
import random
import signal
from collections import defaultdict
from datetime import timedelta
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import close_old_connections, transaction
from django.utils import timezone

from .health import Probe, record
from .models import CatalogEntry, Source, Status
from .probing import probe, target_of

logger = logging.getLogger(__name__)

JITTER = 0.1


@transaction.atomic
def claim(limit: int) -> list[CatalogEntry]:
    """Due entries, ours until the lease ends; then they are due again."""
    now = timezone.now()
    due = CatalogEntry.objects.select_for_update(skip_locked=True, of=("self",))
    due = due.filter(next_probe_at__lte=now).exclude(status=Status.DEPRECATED)
    due = due.exclude(source=Source.DEMO).order_by("next_probe_at")
    entries = list(due.select_related("agent_type").defer(RAW)[:limit])
    lease = now + timedelta(seconds=settings.AGENTLENS_PROBE_LEASE)
    claimed = CatalogEntry.objects.filter(pk__in=[entry.pk for entry in entries])
    claimed.update(next_probe_at=lease)
    return entries


RAW = "agent_type__raw_definition"


class Prober:
    """Probes what is due, batch by batch, so many at once and so many per host."""

    def __init__(self) -> None:
        self.places = asyncio.Semaphore(settings.AGENTLENS_PROBE_CONCURRENCY)
        self.hosts: dict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(settings.AGENTLENS_PROBES_PER_HOST)
        )

    async def round(self) -> int:
        """Probe everything that is due now; how many that was."""
        count = 0
        while entries := await in_database(claim, self.batch):
            await asyncio.gather(*(self.one(entry) for entry in entries))
            count += len(entries)
        self.hosts.clear()
        return count

    @property
    def batch(self) -> int:
        return settings.AGENTLENS_PROBE_CONCURRENCY * 4

    async def one(self, entry: CatalogEntry) -> None:
        target = target_of(entry)
        host = urlsplit(target.endpoint).hostname or ""
        async with self.hosts[host], self.places:
            outcome = await probe(target)
        await in_database(keep, entry, outcome)

    async def run(self) -> None:
        """Go on until cancelled; a mishap costs a pause, never the prober."""
        while True:
            try:
                await self.round()
            except Exception:
                logger.exception("A round of probes failed")
            await asyncio.sleep(random.uniform(0.5, 1.5))  # noqa: S311 - no secret


def keep(entry: CatalogEntry, outcome: Probe) -> bool:
    jitter = random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 - no secret
    return record(entry, outcome, jitter)


async def in_database(function, *arguments):
    """Sync work off the loop, on a connection that is still good."""

    def work():
        close_old_connections()
        try:
            return function(*arguments)
        finally:
            close_old_connections()

    return await sync_to_async(work)()


async def probe_due() -> int:
    """Probe what is due now, and end."""
    return await Prober().round()


async def probe_on() -> None:
    """Probe until told to stop; what was begun is finished or comes due again."""
    task = asyncio.create_task(Prober().run())
    loop = asyncio.get_running_loop()
    for stop in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(stop, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task

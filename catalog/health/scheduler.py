"""The prober: claims entries that are due, probes them, and saves the outcomes.

Any number of probers, in any number of processes, share the work by leases.
"""

import asyncio
import logging
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime, timedelta
from typing import Any, ParamSpec, Protocol, Self, TypeVar

from asgiref.sync import sync_to_async
from django.db import close_old_connections
from django.utils import timezone

from ..conf import conf
from ..models import CatalogEntry, Status
from .leases import claim_rows, lease_end
from .probe import ProbeTarget, run_probe
from .status import ProbeOutcome, add_jitter, probe_interval, record_probes

logger = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
# Outcomes saved in one transaction.
WRITE_BATCH = 100


class ProbeTargetSource(Protocol):
    """A table whose rows are probed when they are due."""

    def claim(self, limit: int, due: datetime) -> list[Any]:
        """Return rows due at that time; no other prober gets them during the lease."""

    def get_target(self, item: Any) -> ProbeTarget: ...

    def is_down(self, item: Any) -> bool:
        """Return whether the item was offline recently, so its probe can wait."""

    def postpone(self, item: Any, until: datetime) -> object:
        """End the lease of an item that was not probed, and set when it is due."""

    def save_results(self, results: list[tuple[Any, ProbeOutcome]]) -> object:
        """Save the outcomes and schedule the next probes."""


class CatalogEntrySource:
    """The entries of the catalog."""

    def claim(self, limit: int, due: datetime) -> list[CatalogEntry]:
        entries = CatalogEntry.objects.monitored().filter(next_probe_at__lte=due)
        return claim_rows(
            entries.with_agent_type(), "next_probe_at", limit, until=lease_end()
        )

    def get_target(self, entry: CatalogEntry) -> ProbeTarget:
        return ProbeTarget.from_entry(entry)

    def is_down(self, entry: CatalogEntry) -> bool:
        return entry.status == Status.OFFLINE and is_recent(entry.last_probed_at)

    def postpone(self, entry: CatalogEntry, until: datetime) -> int:
        rows = CatalogEntry.objects.monitored().filter(pk=entry.pk)
        return rows.update(next_probe_at=until)

    def save_results(self, results: list[tuple[CatalogEntry, ProbeOutcome]]) -> int:
        return record_probes(results)


def is_recent(moment: datetime | None) -> bool:
    """Return whether the moment is within the longest pause between two probes."""
    limit = timedelta(seconds=conf.BACK_OFF_LIMIT)
    return moment is not None and timezone.now() - moment < limit


probe_sources: list[ProbeTargetSource] = [CatalogEntrySource()]


def register_probe_source(source: ProbeTargetSource) -> None:
    """Add a table to probe; apps that build on the catalog call this in `ready`."""
    if not any(type(existing) is type(source) for existing in probe_sources):
        probe_sources.append(source)


class HostLimiter:
    """The limits for one host: concurrent probes, and a pause after failures."""

    def __init__(self) -> None:
        self.slots = asyncio.Semaphore(conf.PROBES_PER_HOST)
        self.users = self.waiting = self.failures = 0
        self.paused_until = 0.0

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep the prober from dropping this limiter."""
        self.users += 1
        try:
            yield
        finally:
            self.users -= 1

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for one of the host's slots and hold it."""
        self.waiting += 1
        try:
            await self.slots.acquire()
        finally:
            self.waiting -= 1
        try:
            yield
        finally:
            self.slots.release()

    def record_outcome(self, outcome: ProbeOutcome) -> None:
        """End the pause on success; start one on a failure while there is none.

        It is longer after repeated failures.
        """
        now = time.monotonic()
        if outcome.ok:
            self.failures, self.paused_until = 0, 0.0
        elif now >= self.paused_until:
            self.failures += 1
            pause = probe_interval(self.failures).total_seconds()
            self.paused_until = now + pause

    @property
    def pause_left(self) -> float:
        return max(0.0, self.paused_until - time.monotonic())

    @property
    def can_be_dropped(self) -> bool:
        limit = time.monotonic() - conf.BACK_OFF_LIMIT
        return not self.users and (not self.failures or self.paused_until < limit)


class Prober:
    """Probes due items, with limits for concurrency in total and per host.

    On exit of the context, running probes are cancelled. Their items become due again
    when their lease ends.
    """

    def __init__(self) -> None:
        self.slots = asyncio.Semaphore(conf.PROBE_CONCURRENCY)
        self.hosts: dict[str, HostLimiter] = {}
        self.running: set[asyncio.Task[None]] = set()
        self.probed = 0
        # Items that may wait for one host; further ones are postponed.
        self.queue_limit = conf.PROBE_QUEUE
        self.writers = [ResultWriter(source) for source in probe_sources]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        for task in self.running:
            task.cancel()
        await asyncio.gather(*self.running, return_exceptions=True)

    async def probe_all_due(self) -> int:
        """Probe everything that is due now; return how many probes were made."""
        self.queue_limit = sys.maxsize
        # With a fixed time: items that become due meanwhile would prolong the round.
        await self.start_due_probes(due=timezone.now())
        await asyncio.gather(*self.running)
        return self.probed

    async def start_due_probes(self, due: datetime | None = None) -> None:
        """Start a task for each due item; slow agents do not delay the others."""
        while sum([await self.claim(writer, due) for writer in self.writers]):
            pass
        self.hosts = {n: h for n, h in self.hosts.items() if not h.can_be_dropped}

    async def claim(self, writer: "ResultWriter", due: datetime | None) -> int:
        """Claim items of one source and start their tasks; return how many."""
        await self.wait_for_capacity()
        now = due or timezone.now()
        items = await run_in_database(writer.source.claim, self.batch_size, now)
        start_deadline = self.start_deadline()
        for item in items:
            task = asyncio.create_task(self.run_task(writer, item, start_deadline))
            self.running.add(task)
            task.add_done_callback(self.running.discard)
        return len(items)

    async def wait_for_capacity(self) -> None:
        """Wait until few tasks run; those queued for a busy host do not count."""
        # Let tasks that were just created reach their host's queue.
        await asyncio.sleep(0)
        while len(self.running) - self.queued > self.batch_size:
            first = asyncio.FIRST_COMPLETED
            await asyncio.wait(self.running, return_when=first)

    @property
    def queued(self) -> int:
        return sum(host.waiting for host in self.hosts.values())

    @property
    def batch_size(self) -> int:
        return conf.PROBE_CONCURRENCY * 2

    def start_deadline(self) -> float:
        """Return the latest time at which a probe of an item claimed now may start.

        A later start could outlast the lease.
        """
        return time.monotonic() + conf.PROBE_LEASE - conf.PROBE_TIMEOUT

    async def run_task(
        self, writer: "ResultWriter", item: Any, start_deadline: float
    ) -> None:
        try:
            await self.probe_item(writer, item, start_deadline)
        except Exception:
            # The item becomes due again when its lease ends.
            logger.exception("The probe of %s failed", item.pk)

    async def probe_item(
        self, writer: "ResultWriter", item: Any, start_deadline: float
    ) -> None:
        """Probe an item, or postpone it when its host is busy or down."""
        source, target = writer.source, writer.source.get_target(item)
        host = self.hosts.setdefault(target.host, HostLimiter())
        outcome = None
        pause = conf.PROBE_POSTPONE if host.waiting >= self.queue_limit else 0.0
        with host.in_use():
            if not pause:
                async with host.slot(), self.slots:
                    pause = host.pause_left if source.is_down(item) else 0.0
                    # After the deadline, another prober may claim the item.
                    if not pause and time.monotonic() <= start_deadline:
                        self.probed += 1
                        outcome = await run_probe(target)
                        host.record_outcome(outcome)
            if pause:
                until = timezone.now() + add_jitter(pause)
                await run_in_database(source.postpone, item, until)
            elif outcome:
                await writer.add(item, outcome)


class ResultWriter:
    """Saves outcomes in batches: those added during a write go into the next one."""

    def __init__(self, source: ProbeTargetSource) -> None:
        self.source = source
        self.waiting: list[tuple[Any, ProbeOutcome]] = []
        self.lock = asyncio.Lock()

    async def add(self, item: Any, outcome: ProbeOutcome) -> None:
        """Save the outcome, together with others that wait; return when it is saved."""
        self.waiting.append((item, outcome))
        async with self.lock:
            batch, self.waiting = self.waiting[:WRITE_BATCH], self.waiting[WRITE_BATCH:]
            if batch:
                await self.write(batch)

    async def write(self, batch: list[tuple[Any, ProbeOutcome]]) -> None:
        """Save a batch; if that fails, save its outcomes one by one."""
        try:
            await run_in_database(self.source.save_results, batch)
        except Exception:
            if len(batch) == 1:
                # The item becomes due again when its lease ends.
                logger.exception("Could not save the probe of %s", batch[0][0].pk)
                return
            for result in batch:
                await self.write([result])


async def run_in_database(
    function: Callable[P, R], *args: P.args, **kwargs: P.kwargs
) -> R:
    """Run a function that uses the database in a thread, with a usable connection.

    When the caller is cancelled, the function is still completed first.
    """

    def work() -> R:
        close_old_connections()
        try:
            return function(*args, **kwargs)
        finally:
            close_old_connections()

    task = asyncio.ensure_future(sync_to_async(work)())
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        # Publishing an event may need this loop; without it the thread never ends.
        await asyncio.wait([task])
        raise

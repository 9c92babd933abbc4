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
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import close_old_connections, transaction
from django.db.models import Case, F, Q, Value, When
from django.utils import timezone

from ..conf import conf
from ..models import CatalogEntry, Status
from .leases import claim_rows, compute_lease_end
from .probe import ProbeTarget, run_probe
from .status import (
    ProbeOutcome,
    activate_declared,
    add_jitter,
    compute_overdue_time,
    compute_probe_interval,
    record_probes,
)

logger = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
# Outcomes saved in one transaction.
WRITE_BATCH = 100


class ProbeTargets(Protocol):
    """A table whose rows are probed when they are due."""

    def claim(self, limit: int, due: datetime) -> list[Any]:
        """Return rows due at that time; no other prober gets them during the lease."""

    def get_target(self, row: Any) -> ProbeTarget: ...

    def is_recently_offline(self, row: Any) -> bool:
        """Return whether the row was offline recently, so its probe can wait."""

    def postpone(self, row: Any, until: datetime) -> object:
        """End the lease of a row that was not probed, and set when it is due."""

    def save_results(self, results: list[tuple[Any, ProbeOutcome]]) -> object:
        """Save the outcomes and schedule the next probes."""


class CatalogEntryTargets:
    """The entries of the catalog."""

    def claim(self, limit: int, due: datetime) -> list[CatalogEntry]:
        """Return the entries to probe; activate those that cannot be probed."""
        entries = CatalogEntry.objects.monitored().filter(next_probe_at__lte=due)
        claimed = claim_rows(
            entries.with_agent_type(), "next_probe_at", limit, until=compute_lease_end()
        )
        self.activate([entry.pk for entry in claimed if entry.declared])
        return [entry for entry in claimed if not entry.declared]

    def activate(self, ids: list[UUID]) -> None:
        """Activate declared entries, whose endpoint an earlier version probed."""
        if not ids:
            return
        with transaction.atomic():
            entries = CatalogEntry.objects.monitored().with_agent_type()
            locked = entries.select_for_update(of=("self",)).filter(pk__in=ids)
            activate_declared(locked.order_by("pk"))

    def get_target(self, entry: CatalogEntry) -> ProbeTarget:
        return ProbeTarget.from_entry(entry)

    def is_recently_offline(self, entry: CatalogEntry) -> bool:
        return entry.status == Status.OFFLINE and is_within_back_off_limit(
            entry.last_probed_at
        )

    def postpone(self, entry: CatalogEntry, until: datetime) -> int:
        rows = CatalogEntry.objects.monitored().filter(pk=entry.pk)
        # The last outcome goes on counting, unless the probe is overdue already.
        is_current = Q(outcome_counts_until__gte=timezone.now())
        counts_until = Case(
            When(is_current, then=Value(compute_overdue_time(until))),
            default=F("outcome_counts_until"),
        )
        return rows.update(next_probe_at=until, outcome_counts_until=counts_until)

    def save_results(self, results: list[tuple[CatalogEntry, ProbeOutcome]]) -> int:
        return record_probes(results)


def is_within_back_off_limit(moment: datetime | None) -> bool:
    """Return whether the moment is within the longest pause between two probes."""
    limit = timedelta(seconds=conf.BACK_OFF_LIMIT)
    return moment is not None and timezone.now() - moment < limit


probe_target_tables: list[ProbeTargets] = [CatalogEntryTargets()]


def register_probe_targets(targets: ProbeTargets) -> None:
    """Add a table to probe; apps that build on the catalog call this in `ready`."""
    if not any(type(existing) is type(targets) for existing in probe_target_tables):
        probe_target_tables.append(targets)


class HostLimiter:
    """The limits for one host: concurrent probes, and a pause after failures."""

    def __init__(self) -> None:
        self.slots = asyncio.Semaphore(conf.PROBES_PER_HOST)
        self.task_count = self.waiting_count = self.failure_count = 0
        self.paused_until = 0.0

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep the prober from dropping this limiter."""
        self.task_count += 1
        try:
            yield
        finally:
            self.task_count -= 1

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for one of the host's slots and hold it."""
        self.waiting_count += 1
        try:
            await self.slots.acquire()
        finally:
            self.waiting_count -= 1
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
            self.failure_count, self.paused_until = 0, 0.0
        elif now >= self.paused_until:
            self.failure_count += 1
            pause = compute_probe_interval(self.failure_count)
            self.paused_until = now + pause.total_seconds()

    @property
    def remaining_pause(self) -> float:
        return max(0.0, self.paused_until - time.monotonic())

    @property
    def can_be_dropped(self) -> bool:
        limit = time.monotonic() - conf.BACK_OFF_LIMIT
        is_pause_over = not self.failure_count or self.paused_until < limit
        return not self.task_count and is_pause_over


class Prober:
    """Probes due rows, with limits for concurrency in total and per host.

    On exit of the context, running probes are canceled. Their rows become due again
    when their lease ends.
    """

    def __init__(self) -> None:
        self.slots = asyncio.Semaphore(conf.PROBE_CONCURRENCY)
        self.limiters: dict[str, HostLimiter] = {}
        self.running: set[asyncio.Task[None]] = set()
        self.probe_count = 0
        # Rows that may wait for one host; further ones are postponed.
        self.queue_limit = conf.PROBE_QUEUE
        self.writers = [ResultWriter(targets) for targets in probe_target_tables]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        for task in self.running:
            task.cancel()
        await asyncio.gather(*self.running, return_exceptions=True)

    async def probe_all_due(self) -> int:
        """Probe everything that is due now; return how many probes were made."""
        self.queue_limit = sys.maxsize
        # With a fixed time: rows that become due meanwhile would prolong the round.
        await self.start_due_probes(due=timezone.now())
        await asyncio.gather(*self.running)
        return self.probe_count

    async def start_due_probes(self, due: datetime | None = None) -> None:
        """Start a task for each due row; slow agents do not delay the others."""
        has_claimed = True
        while has_claimed:
            claimed_counts = [await self.claim(writer, due) for writer in self.writers]
            has_claimed = any(claimed_counts)
        self.limiters = {
            host: limiter
            for host, limiter in self.limiters.items()
            if not limiter.can_be_dropped
        }

    async def claim(self, writer: "ResultWriter", due: datetime | None) -> int:
        """Claim rows of one table and start their tasks; return how many."""
        await self.wait_for_capacity()
        now = due or timezone.now()
        rows = await run_in_database(writer.targets.claim, self.batch_size, now)
        start_deadline = self.compute_start_deadline()
        for row in rows:
            task = asyncio.create_task(self.run_task(writer, row, start_deadline))
            self.running.add(task)
            task.add_done_callback(self.running.discard)
        return len(rows)

    async def wait_for_capacity(self) -> None:
        """Wait until few tasks run; those queued for a busy host do not count."""
        # Let tasks that were just created reach their host's queue.
        await asyncio.sleep(0)
        while len(self.running) - self.queued_count > self.batch_size:
            first = asyncio.FIRST_COMPLETED
            await asyncio.wait(self.running, return_when=first)

    @property
    def queued_count(self) -> int:
        return sum(limiter.waiting_count for limiter in self.limiters.values())

    @property
    def batch_size(self) -> int:
        return conf.PROBE_CONCURRENCY * 2

    def compute_start_deadline(self) -> float:
        """Return the latest time at which a probe of a row claimed now may start.

        A later start could outlast the lease.
        """
        return time.monotonic() + conf.PROBE_LEASE - conf.PROBE_TIMEOUT

    async def run_task(
        self, writer: "ResultWriter", row: Any, start_deadline: float
    ) -> None:
        try:
            await self.probe_row(writer, row, start_deadline)
        except Exception:
            # The row becomes due again when its lease ends.
            logger.exception("The probe of %s failed", row.pk)

    async def probe_row(
        self, writer: "ResultWriter", row: Any, start_deadline: float
    ) -> None:
        """Probe a row, or postpone it when its host is busy or down."""
        targets, target = writer.targets, writer.targets.get_target(row)
        limiter = self.limiters.setdefault(target.host, HostLimiter())
        outcome, pause = None, 0.0
        if limiter.waiting_count >= self.queue_limit:
            pause = conf.PROBE_POSTPONE
        with limiter.in_use():
            if not pause:
                async with limiter.slot(), self.slots:
                    if targets.is_recently_offline(row):
                        pause = limiter.remaining_pause
                    # After the deadline, another prober may claim the row.
                    if not pause and time.monotonic() <= start_deadline:
                        self.probe_count += 1
                        outcome = await run_probe(target)
                        limiter.record_outcome(outcome)
            if pause:
                until = timezone.now() + add_jitter(pause)
                await run_in_database(targets.postpone, row, until)
            elif outcome:
                await writer.add(row, outcome)


class ResultWriter:
    """Saves outcomes in batches: those added during a write go into the next one."""

    def __init__(self, targets: ProbeTargets) -> None:
        self.targets = targets
        self.waiting: list[tuple[Any, ProbeOutcome]] = []
        self.lock = asyncio.Lock()

    async def add(self, row: Any, outcome: ProbeOutcome) -> None:
        """Save the outcome, together with others that wait; return when it is saved."""
        self.waiting.append((row, outcome))
        async with self.lock:
            batch, self.waiting = self.waiting[:WRITE_BATCH], self.waiting[WRITE_BATCH:]
            if batch:
                await self.write(batch)

    async def write(self, batch: list[tuple[Any, ProbeOutcome]]) -> None:
        """Save a batch; if that fails, save its outcomes one by one."""
        try:
            await run_in_database(self.targets.save_results, batch)
        except Exception:
            if len(batch) == 1:
                # The row becomes due again when its lease ends.
                logger.exception("Could not save the probe of %s", batch[0][0].pk)
                return
            for result in batch:
                await self.write([result])


async def run_in_database(
    function: Callable[P, R], *args: P.args, **kwargs: P.kwargs
) -> R:
    """Run a function that uses the database in a thread, with a usable connection.

    When the caller is canceled, the function is still completed first.
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
        # The thread may publish events through this loop: if the loop were closed
        # first, the thread would wait for it forever.
        await asyncio.wait([task])
        raise

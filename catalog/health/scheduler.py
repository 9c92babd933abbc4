"""Who is probed next: any number of probers share the work by leases."""

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
from .probe import Target, probe_target, target_of
from .status import Probe, interval_after, record_all, spread

logger = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
# As many outcomes as are written down at once.
PAGE = 100


class Targets(Protocol):
    """Something with an address that is probed when it comes due."""

    def claim(self, limit: int, due: datetime) -> list[Any]:
        """Some that were due then, ours until the lease ends; then due again."""

    def target(self, item: Any) -> Target: ...

    def is_down(self, item: Any) -> bool:
        """Whether it was gone lately, so that asking later tells no less."""

    def put_off(self, item: Any, until: datetime) -> object:
        """Give it back: it is due then."""

    def keep(self, outcomes: list[tuple[Any, Probe]]) -> object:
        """Write down what was found, and when to ask again."""


class Entries:
    """The catalog's own."""

    def claim(self, limit: int, due: datetime) -> list[CatalogEntry]:
        entries = CatalogEntry.objects.watched().filter(next_probe_at__lte=due)
        return claim_rows(
            entries.to_be_asked(), "next_probe_at", limit, until=lease_end()
        )

    def target(self, entry: CatalogEntry) -> Target:
        return target_of(entry)

    def is_down(self, entry: CatalogEntry) -> bool:
        return entry.status == Status.OFFLINE and is_recent(entry.last_probed_at)

    def put_off(self, entry: CatalogEntry, until: datetime) -> int:
        mine = CatalogEntry.objects.watched().filter(pk=entry.pk)
        return mine.update(next_probe_at=until)

    def keep(self, outcomes: list[tuple[CatalogEntry, Probe]]) -> int:
        return record_all(outcomes)


def is_recent(moment: datetime | None) -> bool:
    """Within the longest that any agent is left alone, whatever its host does."""
    limit = timedelta(seconds=conf.BACK_OFF_LIMIT)
    return moment is not None and timezone.now() - moment < limit


target_sources: list[Targets] = [Entries()]


def add_targets(targets: Targets) -> None:
    """Probe these too; apps that build on the catalog call this in `ready`."""
    if not any(type(known) is type(targets) for known in target_sources):
        target_sources.append(targets)


class Host:
    """How many may ask it at once, and when: one that only fails is left alone."""

    def __init__(self) -> None:
        self.places = asyncio.Semaphore(conf.PROBES_PER_HOST)
        self.users = self.waiting = self.failures = 0
        self.silent_until = 0.0

    @contextmanager
    def in_use(self) -> Iterator[None]:
        self.users += 1
        try:
            yield
        finally:
            self.users -= 1

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        self.waiting += 1
        try:
            await self.places.acquire()
        finally:
            self.waiting -= 1
        try:
            yield
        finally:
            self.places.release()

    def note(self, outcome: Probe) -> None:
        """An answer ends the silence; failures in a row make it longer, once each."""
        now = time.monotonic()
        if outcome.ok:
            self.failures, self.silent_until = 0, 0.0
        elif now >= self.silent_until:
            self.failures += 1
            pause = interval_after(self.failures).total_seconds()
            self.silent_until = now + pause

    @property
    def pause_left(self) -> float:
        return max(0.0, self.silent_until - time.monotonic())

    @property
    def is_forgettable(self) -> bool:
        long_ago = time.monotonic() - conf.BACK_OFF_LIMIT
        return not self.users and (not self.failures or self.silent_until < long_ago)


class Prober:
    """Probes what is due, so many at once and so many per host.

    Left as a context, it asks nobody any more; what it held comes due again.
    """

    def __init__(self) -> None:
        self.places = asyncio.Semaphore(conf.PROBE_CONCURRENCY)
        self.hosts: dict[str, Host] = {}
        self.running: set[asyncio.Task[None]] = set()
        self.asked = 0
        # So many may wait for one host.
        self.queue = conf.PROBE_QUEUE
        self.notes = [Notes(targets) for targets in target_sources]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        for task in self.running:
            task.cancel()
        await asyncio.gather(*self.running, return_exceptions=True)

    async def round(self) -> int:
        """Probe everything that is due now; how many were asked."""
        self.queue = sys.maxsize
        # Not what comes due meanwhile: a long round would never end.
        await self.begin(due=timezone.now())
        await asyncio.gather(*self.running)
        return self.asked

    async def begin(self, due: datetime | None = None) -> None:
        """Begin asking all that is due; those who answer slowly hold up nobody else."""
        while sum([await self.claim(notes, due) for notes in self.notes]):
            pass
        self.hosts = {n: h for n, h in self.hosts.items() if not h.is_forgettable}

    async def claim(self, notes: "Notes", due: datetime | None) -> int:
        await self.room()
        now = due or timezone.now()
        items = await in_database(notes.targets.claim, self.batch, now)
        lease_ends = self.lease_ends()
        for item in items:
            task = asyncio.create_task(self.one(notes, item, lease_ends))
            self.running.add(task)
            task.add_done_callback(self.running.discard)
        return len(items)

    async def room(self) -> None:
        """Those who wait for a host of theirs take none away."""
        # Let those just claimed find out whether they have to.
        await asyncio.sleep(0)
        while len(self.running) - self.queued > self.batch:
            first = asyncio.FIRST_COMPLETED
            await asyncio.wait(self.running, return_when=first)

    @property
    def queued(self) -> int:
        return sum(host.waiting for host in self.hosts.values())

    @property
    def batch(self) -> int:
        return conf.PROBE_CONCURRENCY * 2

    def lease_ends(self) -> float:
        """When it is too late to begin asking what was claimed just now."""
        lease, longest = (
            conf.PROBE_LEASE,
            conf.PROBE_TIMEOUT,
        )
        return time.monotonic() + lease - longest

    async def one(self, notes: "Notes", item: Any, lease_ends: float) -> None:
        try:
            await self.ask(notes, item, lease_ends)
        except Exception:
            # It comes due again when the lease ends; the others go on.
            logger.exception("The probe of %s failed", item.pk)

    async def ask(self, notes: "Notes", item: Any, lease_ends: float) -> None:
        targets, target = notes.targets, notes.targets.target(item)
        host = self.hosts.setdefault(target.host, Host())
        outcome, pause = (
            None,
            conf.PROBE_POSTPONE if host.waiting >= self.queue else 0.0,
        )
        with host.in_use():
            if not pause:
                async with host.turn(), self.places:
                    pause = host.pause_left if targets.is_down(item) else 0.0
                    # Past its lease it is due again for all.
                    if not pause and time.monotonic() <= lease_ends:
                        self.asked += 1
                        outcome = await probe_target(target)
                        host.note(outcome)
            if pause:
                until = timezone.now() + spread(pause)
                await in_database(targets.put_off, item, until)
            elif outcome:
                await notes.take(item, outcome)


class Notes:
    """Outcomes on their way to the database: what gathers while it writes goes next."""

    def __init__(self, targets: Targets) -> None:
        self.targets = targets
        self.waiting: list[tuple[Any, Probe]] = []
        self.pen = asyncio.Lock()

    async def take(self, item: Any, outcome: Probe) -> None:
        self.waiting.append((item, outcome))
        async with self.pen:
            page, self.waiting = self.waiting[:PAGE], self.waiting[PAGE:]
            if page:
                await self.write(page)

    async def write(self, page: list[tuple[Any, Probe]]) -> None:
        try:
            await in_database(self.targets.keep, page)
        except Exception:
            if len(page) == 1:
                # It comes due again when the lease ends; the others go on.
                logger.exception("The probe of %s was not kept", page[0][0].pk)
                return
            for note in page:
                await self.write([note])


async def in_database(
    function: Callable[P, R], *arguments: P.args, **named: P.kwargs
) -> R:
    """Sync work off the loop, on a connection that is still good; never left undone."""

    def work() -> R:
        close_old_connections()
        try:
            return function(*arguments, **named)
        finally:
            close_old_connections()

    begun = asyncio.ensure_future(sync_to_async(work)())
    try:
        return await asyncio.shield(begun)
    except asyncio.CancelledError:
        # What it publishes may need the loop: a thread left alone waits for ever.
        await asyncio.wait([begun])
        raise

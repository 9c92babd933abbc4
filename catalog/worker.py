"""What goes on beside the requests: probing, refreshing, forgetting."""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from .health import Prober, add_jitter, prune_history, run_in_database
from .registration import refresh_due_entries

logger = logging.getLogger(__name__)

MINUTE = 60.0

periodic_tasks: list[tuple[Callable[[], object], float]] = [
    (prune_history, 10 * MINUTE),
]


def add_periodic_task(task: Callable[[], object], seconds: float) -> None:
    """Do this too, in the database, about so often; for an app's `ready`."""
    if (task, seconds) not in periodic_tasks:
        periodic_tasks.append((task, seconds))


async def run() -> None:
    """All of it, until cancelled; what was begun is finished or comes due again."""
    async with Prober() as prober, asyncio.TaskGroup() as group:
        group.create_task(run_forever(prober.start_due_probes, 1.0))
        group.create_task(run_forever(refresh_due_entries, MINUTE))
        for task, seconds in periodic_tasks:
            group.create_task(run_forever(partial(run_in_database, task), seconds))


async def run_once() -> int:
    """Everything that is due now; how many were probed."""
    async with Prober() as prober:
        probed = await prober.probe_all_due()
    await refresh_due_entries()
    for task, _ in periodic_tasks:
        await run_in_database(task)
    return probed


async def run_until_stopped() -> None:
    """The same for a process of its own, which signals end."""
    task = asyncio.create_task(run())
    loop = asyncio.get_running_loop()
    for stop in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(stop, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def run_forever(work: Callable[[], Awaitable[Any]], pause: float) -> None:
    """A mishap costs a pause, longer each time in a row, and never the worker."""
    failures = 0
    while True:
        try:
            await work()
            failures = 0
        except Exception:
            logger.exception("Work in the background failed")
            failures += 1
        longer = min(pause * 2**failures, max(pause, MINUTE))
        await asyncio.sleep(add_jitter(longer).total_seconds())

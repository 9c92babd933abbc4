"""The background worker: probes agents, refreshes definitions, runs periodic tasks."""

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

# Seconds between two runs.
PRUNE_INTERVAL = 600.0
REFRESH_CHECK_INTERVAL = 60.0
PROBE_CHECK_INTERVAL = 1.0
# The longest pause, in seconds, after failures of a task with a short interval.
MAX_RETRY_DELAY = 60.0

periodic_tasks: list[tuple[Callable[[], object], float]] = [
    (prune_history, PRUNE_INTERVAL),
]


def add_periodic_task(task: Callable[[], object], seconds: float) -> None:
    """Run a function that uses the database about every `seconds` seconds.

    Call this in the `ready()` of an app.
    """
    if (task, seconds) not in periodic_tasks:
        periodic_tasks.append((task, seconds))


async def run() -> None:
    """Run the worker until it is canceled.

    An interrupted probe or refresh becomes due again when its lease ends.
    """
    async with Prober() as prober, asyncio.TaskGroup() as group:
        group.create_task(run_forever(prober.start_due_probes, PROBE_CHECK_INTERVAL))
        group.create_task(run_forever(refresh_due_entries, REFRESH_CHECK_INTERVAL))
        for task, seconds in periodic_tasks:
            group.create_task(run_forever(partial(run_in_database, task), seconds))


async def run_once() -> int:
    """Do all work that is due; return how many probes were made."""
    async with Prober() as prober:
        probe_count = await prober.probe_all_due()
    await refresh_due_entries()
    for task, _ in periodic_tasks:
        await run_in_database(task)
    return probe_count


async def run_until_stopped() -> None:
    """Run the worker until the process receives SIGINT or SIGTERM."""
    task = asyncio.create_task(run())
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signal_number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task


def get_task_name(task: Callable[[], Awaitable[Any]]) -> str:
    """Return the name of a task's function, for the log."""
    function = task.args[0] if isinstance(task, partial) else task
    return getattr(function, "__qualname__", repr(function))


async def run_forever(task: Callable[[], Awaitable[Any]], interval: float) -> None:
    """Run a task at intervals; log failures, and prolong short intervals after them."""
    failure_count = 0
    while True:
        try:
            await task()
            failure_count = 0
        except Exception:
            logger.exception("The background task %s failed", get_task_name(task))
            failure_count += 1
        delay = min(interval * 2**failure_count, max(interval, MAX_RETRY_DELAY))
        await asyncio.sleep(add_jitter(delay).total_seconds())

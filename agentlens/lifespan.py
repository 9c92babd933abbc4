"""The embedded worker, which probes and refreshes agents while the server runs."""

import asyncio
import contextlib

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable
from django.conf import settings

from catalog import worker


async def lifespan(receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    """Handle the ASGI lifespan: run the embedded worker from startup to shutdown."""
    await receive()
    task = start_worker()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    if task:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    await send({"type": "lifespan.shutdown.complete"})


def start_worker() -> asyncio.Task[None] | None:
    """Start the worker, unless `AGENTLENS_PROBER` is off."""
    if not settings.AGENTLENS_PROBER:
        return None
    return asyncio.create_task(worker.run())

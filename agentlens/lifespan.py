"""What runs beside the requests, for as long as the server does."""

import asyncio
import contextlib

from django.conf import settings

from catalog import worker


async def lifespan(receive, send):
    """The embedded prober: started with the server, and stopped before it."""
    await receive()
    task = start_prober()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    if task:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    await send({"type": "lifespan.shutdown.complete"})


def start_prober() -> asyncio.Task | None:
    if not settings.AGENTLENS_PROBER:
        return None
    return asyncio.create_task(worker.run())

import asyncio
import contextlib
from datetime import timedelta

import pytest
from django.utils import timezone

from catalog import worker
from catalog.health.scheduler import run_in_database
from catalog.health.status import record_probe
from catalog.models import CatalogEntry, ProbeResult
from catalog.registration.service import import_url
from catalog.worker import run, run_forever, run_once
from tests.factories import card_bytes, skill
from tests.probes import success
from tests.servers import LOOPBACK, reply, run_server

pytestmark = pytest.mark.django_db(transaction=True)

LONG_AGO = timedelta(days=3)


@pytest.fixture
def due_entry(settings):
    """Yield an entry due for a probe and a refresh, with a history to prune."""
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with run_server() as server:
        server.routes["/card"] = reply(body=card_bytes())
        entry = import_url(server.url("/card")).entry
        record_probe(entry, success(at=timezone.now() - LONG_AGO))
        past = timezone.now() - LONG_AGO
        CatalogEntry.objects.update(
            next_probe_at=past, next_refresh_at=past, last_probed_at=past
        )
        server.routes["/card"] = reply(body=card_bytes(skills=[skill("Other")]))
        yield entry


def is_maintained():
    entry = CatalogEntry.objects.get()
    old_probes = ProbeResult.objects.filter(at__lt=timezone.now() - timedelta(days=2))
    is_probed = entry.last_probed_at > timezone.now() - timedelta(minutes=1)
    return is_probed and entry.changes.exists() and not old_probes.exists()


def test_running_worker_probes_refreshes_and_prunes(due_entry):
    async def scenario():
        task = asyncio.create_task(run())
        async with asyncio.timeout(20):
            while not await run_in_database(is_maintained):
                await asyncio.sleep(0.05)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    asyncio.run(scenario())


def test_single_worker_round_probes_refreshes_and_prunes(due_entry):
    assert asyncio.run(run_once()) == 1
    assert is_maintained()


async def test_run_forever_doubles_pause_after_failures_and_continues(
    monkeypatch, caplog
):
    pauses = []

    async def sleep(seconds):
        pauses.append(seconds)
        if len(pauses) == 9:
            raise asyncio.CancelledError

    async def work():
        if len(pauses) < 8:
            raise ValueError("Failed")

    monkeypatch.setattr(worker.asyncio, "sleep", sleep)
    with pytest.raises(asyncio.CancelledError):
        await run_forever(work, 1.0)

    assert f"The background task {work.__qualname__} failed" in caplog.text
    expected = [2, 4, 8, 16, 32, 60, 60, 60, 1]
    assert pauses == pytest.approx(expected, rel=0.11)

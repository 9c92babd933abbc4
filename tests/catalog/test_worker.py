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
from tests.probes import well
from tests.servers import LOOPBACK, reply, serving

pytestmark = pytest.mark.django_db(transaction=True)

LONG_AGO = timedelta(days=3)


@pytest.fixture
def neglected(settings):
    """An agent that is due for everything."""
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with serving() as server:
        server.routes["/card"] = reply(body=card_bytes())
        entry = import_url(server.url("/card")).entry
        record_probe(entry, well(at=timezone.now() - LONG_AGO))
        past = timezone.now() - LONG_AGO
        CatalogEntry.objects.update(
            next_probe_at=past, next_refresh_at=past, last_probed_at=past
        )
        server.routes["/card"] = reply(body=card_bytes(skills=[skill("Other")]))
        yield entry


def is_looked_after():
    entry = CatalogEntry.objects.get()
    old = ProbeResult.objects.filter(at__lt=timezone.now() - timedelta(days=2))
    probed = entry.last_probed_at > timezone.now() - timedelta(minutes=1)
    return probed and entry.changes.exists() and not old.exists()


def test_everything_is_done_beside_the_requests(neglected):
    async def scenario():
        task = asyncio.create_task(run())
        async with asyncio.timeout(20):
            while not await run_in_database(is_looked_after):
                await asyncio.sleep(0.05)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    asyncio.run(scenario())


def test_once_is_all_of_it(neglected):
    assert asyncio.run(run_once()) == 1
    assert is_looked_after()


async def test_a_mishap_costs_ever_longer_pauses_and_never_the_worker(monkeypatch):
    slept = []

    async def sleep(seconds):
        slept.append(seconds)
        if len(slept) == 9:
            raise asyncio.CancelledError

    async def work():
        if len(slept) < 8:
            raise ValueError("no")

    monkeypatch.setattr(worker.asyncio, "sleep", sleep)
    with pytest.raises(asyncio.CancelledError):
        await run_forever(work, 1.0)

    expected = [2, 4, 8, 16, 32, 60, 60, 60, 1]
    assert slept == pytest.approx(expected, rel=0.11)

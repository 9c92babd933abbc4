import asyncio
import ipaddress
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from catalog.models import CatalogEntry, Source, Status
from catalog.prober import Prober, claim
from tests.factories import AgentTypeFactory, CatalogEntryFactory
from tests.servers import reply, serving

pytestmark = pytest.mark.django_db(transaction=True)

CARD = "/.well-known/agent-card.json"


@pytest.fixture
def farm(settings):
    """A host full of agents, each with a card of its own."""
    settings.AGENTLENS_ALLOWED_NETWORKS = [ipaddress.ip_network("127.0.0.0/8")]
    with serving() as server:
        yield server


def due(server, count, **members):
    """Entries that are due, each known by the place of its card."""
    entries = [
        CatalogEntryFactory(
            agent_type=AgentTypeFactory(provider=None),
            status=Status.UNKNOWN,
            next_probe_at=timezone.now(),
            source_url=server.url(f"/{n}"),
            **members,
        )
        for n in range(count)
    ]
    for n in range(count):
        server.routes[f"/{n}"] = reply()
    return entries


def database_url():
    """The test's own database, for processes that do not know of tests."""
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return os.environ["DATABASE_URL"].rsplit("/", 1)[0] + f"/{name}"


def probers(count, seconds):
    """So many probers as processes of their own, holding what they take so long."""
    environment = os.environ | {
        "DATABASE_URL": database_url(),
        "AGENTLENS_ALLOWED_NETWORKS": "127.0.0.0/8",
        "AGENTLENS_PROBE_LEASE": str(seconds),
        "AGENTLENS_PROBE_CONCURRENCY": "8",
    }
    command = [sys.executable, "-m", "agentlens.cli", "probe"]
    return [subprocess.Popen(command, env=environment) for _ in range(count)]


def wait_until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it never came about")


def probed():
    return CatalogEntry.objects.filter(last_probed_at__isnull=False).count()


def stop(processes, how=signal.SIGTERM):
    for process in processes:
        process.send_signal(how)
        process.wait(10)


def test_a_round_probes_what_is_due_and_nothing_else(farm):
    entries = due(farm, 10)
    later = CatalogEntryFactory(next_probe_at=timezone.now() + timedelta(hours=1))
    count = asyncio.run(Prober().round())

    assert count == 10
    assert Counter(farm.paths) == {f"/{n}": 1 for n in range(10)}
    statuses = CatalogEntry.objects.filter(pk__in=[entry.pk for entry in entries])
    assert set(statuses.values_list("status", flat=True)) == {Status.ACTIVE}
    later.refresh_from_db()
    assert later.last_probed_at is None


@pytest.mark.parametrize(
    "left_alone", [{"status": Status.DEPRECATED}, {"source": Source.DEMO}]
)
def test_what_is_left_alone_is_never_claimed(left_alone):
    CatalogEntryFactory(next_probe_at=timezone.now(), **left_alone)

    assert claim(10) == []


def test_what_is_claimed_is_not_claimed_again_before_the_lease_ends(settings):
    CatalogEntryFactory.create_batch(5, next_probe_at=timezone.now())

    assert (len(claim(3)), len(claim(3)), len(claim(3))) == (3, 2, 0)
    settings.AGENTLENS_PROBE_LEASE = -1
    CatalogEntry.objects.update(next_probe_at=timezone.now())
    assert (len(claim(9)), len(claim(9))) == (5, 5)


def test_no_host_is_asked_by_too_many_at_once(farm, settings):
    settings.AGENTLENS_PROBES_PER_HOST = 2
    busy, most = [], []

    def counting(request):
        busy.append(1)
        most.append(len(busy))
        time.sleep(0.02)
        busy.pop()
        return [reply()]

    due(farm, 8)
    for entry in AgentTypeFactory._meta.model.objects.all():
        entry.endpoint = farm.url(f"/{entry.pk}")
        entry.save()
    farm.routes = dict.fromkeys(farm.routes, counting)
    asyncio.run(Prober().round())

    assert len(most) == 8
    assert max(most) <= 2


def test_two_probers_share_the_work_and_double_none_of_it(farm):
    due(farm, 200)
    running = probers(2, seconds=60)
    try:
        wait_until(lambda: probed() == 200)
    finally:
        stop(running)

    assert Counter(farm.paths) == {f"/{n}": 1 for n in range(200)}


def test_what_a_killed_prober_held_is_probed_by_another_after_the_lease(farm):
    due(farm, 40)
    held = dict(farm.routes)
    farm.routes = dict.fromkeys(held, lambda request: time.sleep(3) or [reply()])
    (first,) = probers(1, seconds=3)
    wait_until(lambda: len(farm.paths) > 0)
    stop([first], signal.SIGKILL)
    taken = CatalogEntry.objects.filter(next_probe_at__gt=timezone.now()).count()
    farm.routes = held
    running = probers(1, seconds=3)
    try:
        wait_until(lambda: probed() == 40)
    finally:
        stop(running)

    assert taken > 0
    assert not CatalogEntry.objects.exclude(status=Status.ACTIVE).exists()

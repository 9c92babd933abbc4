import asyncio
import ipaddress
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from asgiref.sync import async_to_sync
from django.db import connection, transaction
from django.utils import timezone

from catalog.health.scheduler import (
    CatalogEntrySource,
    HostLimiter,
    Prober,
    run_in_database,
)
from catalog.health.status import record_probes
from catalog.models import AgentType, CatalogEntry, Source, Status
from tests.factories import AgentTypeFactory, CatalogEntryFactory
from tests.probes import failed, well
from tests.servers import reply, serving, silence

pytestmark = pytest.mark.django_db(transaction=True)

AT_ONCE = 8
HOUR = 3600
LEASE = 8


@pytest.fixture
def farm(settings):
    """A host full of agents, each with a card of its own."""
    settings.AGENTLENS_ALLOWED_NETWORKS = [ipaddress.ip_network("127.0.0.0/8")]
    with serving() as server:
        yield server


def claim(limit):
    return CatalogEntrySource().claim(limit, due=timezone.now())


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


def on_one_host(server):
    for agent_type in AgentType.objects.all():
        agent_type.endpoint = server.url(f"/{agent_type.pk}")
        agent_type.save()


def probe_round():
    return async_to_sync(Prober().probe_all_due)()


def database_url():
    """The test's own database, for processes that do not know of tests."""
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return os.environ["DATABASE_URL"].rsplit("/", 1)[0] + f"/{name}"


def start_prober(lease, interval=HOUR):
    """A prober as a process of its own, holding what it takes so many seconds."""
    environment = os.environ | {
        "DATABASE_URL": database_url(),
        "AGENTLENS_ALLOWED_NETWORKS": "127.0.0.0/8",
        "AGENTLENS_PROBE_CONCURRENCY": str(AT_ONCE),
        "AGENTLENS_PROBES_PER_HOST": str(AT_ONCE),
        "AGENTLENS_PROBE_INTERVAL": str(interval),
        "AGENTLENS_PROBE_LEASE": str(lease),
        "AGENTLENS_PROBE_TIMEOUT": str(min(20, lease - 1)),
    }
    command = [sys.executable, "-m", "agentlens.cli", "probe"]
    return subprocess.Popen(command, env=environment)


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it never came about")


def probed():
    return CatalogEntry.objects.filter(last_probed_at__isnull=False).count()


def leases():
    """Until when somebody holds what was not probed yet, by the place of its card."""
    entries = CatalogEntry.objects.filter(last_probed_at=None)
    held = entries.filter(next_probe_at__gt=timezone.now())
    return {urlsplit(entry.source_url).path: entry.next_probe_at for entry in held}


def stop(processes, how=signal.SIGTERM):
    for process in processes:
        process.send_signal(how)
        process.wait(30)


def test_a_round_probes_what_is_due_and_nothing_else(farm):
    entries = due(farm, 10)
    later = CatalogEntryFactory(next_probe_at=timezone.now() + timedelta(hours=1))
    count = probe_round()

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
    on_one_host(farm)
    farm.routes = dict.fromkeys(farm.routes, counting)
    probe_round()

    assert len(most) == 8
    assert max(most) <= 2


def test_two_probers_share_the_work_and_double_none_of_it(farm):
    """Each leaves its own interval on what it probed: so we know who it was."""
    due(farm, 400)
    both = threading.Event()

    def answer(request):
        # One asks so many at once and no more: then the other is at work, too.
        if len(farm.requests) > AT_ONCE:
            both.set()
        both.wait(15)
        return [reply()]

    farm.routes = dict.fromkeys(farm.routes, answer)
    running = [start_prober(60, HOUR), start_prober(60, 24 * HOUR)]
    try:
        wait_until(lambda: probed() == 400)
    finally:
        stop(running)

    assert Counter(farm.paths) == {f"/{n}": 1 for n in range(400)}
    soon = timezone.now() + timedelta(hours=12)
    shares = [
        CatalogEntry.objects.filter(next_probe_at__lt=soon).count(),
        CatalogEntry.objects.filter(next_probe_at__gt=soon).count(),
    ]
    assert sum(shares) == 400
    assert min(shares) >= AT_ONCE


def test_what_a_killed_prober_held_is_probed_by_another_after_the_lease(farm):
    due(farm, 80)
    quick, asked, released = {"/0", "/1", "/2", "/3"}, [], threading.Event()

    def answer(request):
        asked.append((request.path, timezone.now()))
        if request.path not in quick:
            released.wait(15)
        return [reply()]

    farm.routes = dict.fromkeys(farm.routes, answer)
    first = start_prober(LEASE)
    try:
        wait_until(lambda: probed() == 4 and len(asked) == 4 + AT_ONCE)
    finally:
        stop([first], signal.SIGKILL)
    before, held = list(asked), leases()
    released.set()
    second = start_prober(LEASE)
    try:
        wait_until(lambda: probed() == 80)
    finally:
        stop([second])

    cut_off = {path for path, _ in before} - quick
    assert Counter(farm.paths) == {f"/{n}": 1 + (f"/{n}" in cut_off) for n in range(80)}
    assert 80 > len(held) > len(cut_off) == AT_ONCE
    assert all(at > held[path] for path, at in asked[len(before) :] if path in held)
    assert not CatalogEntry.objects.exclude(status=Status.ACTIVE).exists()


def test_what_waited_out_its_lease_is_left_to_the_next(farm, settings):
    """Many agents of one silent host: none is asked twice in a round."""
    settings.AGENTLENS_PROBE_LEASE = 2
    settings.AGENTLENS_PROBE_TIMEOUT = 0.2
    settings.AGENTLENS_PROBES_PER_HOST = 1
    due(farm, 30)
    on_one_host(farm)
    farm.routes = dict.fromkeys(farm.routes, silence)
    probe_round()

    asked = Counter(farm.paths)
    assert 0 < len(asked) < 30
    assert set(asked.values()) == {1}


def test_a_round_ends_although_what_it_probed_comes_due_again(farm, settings):
    settings.AGENTLENS_PROBE_INTERVAL = 0
    due(farm, 20)

    assert probe_round() == 20


def test_one_that_cannot_be_written_down_costs_no_other(farm, monkeypatch, caplog):
    entries = due(farm, 5)
    broken = entries[2].pk

    def save_results(self, outcomes):
        if any(entry.pk == broken for entry, _ in outcomes):
            raise ValueError("no")
        return record_probes(outcomes)

    monkeypatch.setattr(CatalogEntrySource, "save_results", save_results)
    probe_round()

    assert probed() == 4
    assert f"Could not save the probe of {broken}" in caplog.text


def test_what_one_has_claimed_another_does_not_wait_for():
    CatalogEntryFactory.create_batch(10, next_probe_at=timezone.now())
    claimed, told = threading.Event(), []

    def first():
        with transaction.atomic():
            told.append(claim(3))
            claimed.set()
            time.sleep(0.5)
        connection.close()

    holder = threading.Thread(target=first)
    holder.start()
    claimed.wait(5)
    told.append(claim(10))
    holder.join()

    assert [len(mine) for mine in told] == [3, 7]
    assert len({entry.pk for mine in told for entry in mine}) == 10


def at(server, *entries):
    """Move entries to where they are asked."""
    for entry in entries:
        place = server.url(f"/{entry.pk}")
        CatalogEntry.objects.filter(pk=entry.pk).update(source_url=place)


def test_a_silent_host_holds_up_nobody_else(farm, settings):
    settings.AGENTLENS_PROBES_PER_HOST = 2
    settings.AGENTLENS_PROBE_CONCURRENCY = 4
    settings.AGENTLENS_PROBE_TIMEOUT = settings.AGENTLENS_FETCH_TIMEOUT = 60
    due(farm, 30)
    farm.routes = dict.fromkeys(farm.routes, silence)
    quick = CatalogEntryFactory(agent_type__provider=None)

    async def scenario():
        async with asyncio.timeout(20), Prober() as prober:
            await prober.start_due_probes()
            await run_in_database(make_due, quick)
            await prober.start_due_probes()
            while not await run_in_database(probed):
                await asyncio.sleep(0.02)

    with serving("127.0.0.2") as other:
        other.routes[f"/{quick.pk}"] = reply()
        at(other, quick)
        asyncio.run(scenario())
    quick.refresh_from_db()
    assert quick.status == Status.ACTIVE


def make_due(entry):
    CatalogEntry.objects.filter(pk=entry.pk).update(next_probe_at=timezone.now())


def test_of_a_host_where_all_fails_only_one_that_is_gone_is_asked(farm, settings):
    settings.AGENTLENS_PROBES_PER_HOST = 1
    gone = due(farm, 10)
    go(offline_since=timedelta(minutes=59))
    farm.routes = dict.fromkeys(farm.routes, reply(500))
    assert probe_round() == 1

    assert len(farm.requests) == 1
    later = CatalogEntry.objects.filter(next_probe_at__gt=timezone.now())
    assert later.count() == len(gone)


def go(offline_since):
    CatalogEntry.objects.update(
        status=Status.OFFLINE,
        consecutive_failures=5,
        last_probed_at=timezone.now() - offline_since,
    )


def test_none_is_left_alone_longer_than_the_limit_whatever_its_host_does(
    farm, settings
):
    """Of many that are gone one may be back, and nobody would notice for days."""
    settings.AGENTLENS_PROBES_PER_HOST = 1
    due(farm, 10)
    go(offline_since=timedelta(minutes=61))
    back = CatalogEntry.objects.order_by("pk").last()
    farm.routes = dict.fromkeys(farm.routes, reply(500))
    farm.routes[urlsplit(back.source_url).path] = reply()
    probe_round()

    assert len(farm.requests) == 10
    assert CatalogEntry.objects.get(status=Status.ACTIVE) == back


def test_those_not_known_to_be_gone_are_asked_however_their_host_is(farm, settings):
    settings.AGENTLENS_PROBES_PER_HOST = 1
    due(farm, 5)
    farm.routes = dict.fromkeys(farm.routes, reply(500))
    probe_round()

    assert len(farm.requests) == 5
    degraded = CatalogEntry.objects.filter(status=Status.DEGRADED)
    assert degraded.count() == 5


async def test_a_host_is_left_alone_ever_longer_and_an_answer_ends_it(
    settings, monkeypatch
):
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    host, pauses = HostLimiter(), []
    for _ in range(12):
        # As many agents of it may fail meanwhile as there are.
        host.record_outcome(failed())
        host.record_outcome(failed())
        pauses.append(host.pause_left / 60)
        now = host.paused_until

    assert pauses[:4] == [1, 1, 2, 4]
    assert pauses[-1] == 60
    host.record_outcome(well())
    assert host.pause_left == 0


def test_of_too_many_who_wait_for_a_host_some_are_put_off(farm, settings):
    settings.AGENTLENS_PROBE_QUEUE = 4
    settings.AGENTLENS_PROBES_PER_HOST = 1
    due(farm, 20)

    async def scenario():
        async with Prober() as prober:
            await prober.start_due_probes()
            await asyncio.gather(*prober.running)

    asyncio.run(scenario())
    soon = timezone.now() + timedelta(seconds=15)
    postpone = CatalogEntry.objects.filter(last_probed_at=None, next_probe_at__lt=soon)
    assert 0 < postpone.count() < 20
    assert postpone.count() + probed() == 20


def test_who_wants_a_whole_round_waits_for_all_of_it(farm, settings):
    settings.AGENTLENS_PROBE_QUEUE = 4
    settings.AGENTLENS_PROBES_PER_HOST = 1
    due(farm, 20)

    assert probe_round() == 20
    assert probed() == 20


def test_a_prober_that_is_stopped_ends_well_and_soon(farm):
    due(farm, 40)
    farm.routes = dict.fromkeys(farm.routes, silence)
    running = start_prober(60)
    wait_until(lambda: len(farm.requests) == AT_ONCE)
    began = time.monotonic()
    stop([running])

    assert running.returncode == 0
    assert time.monotonic() - began < 15


async def test_work_in_the_database_is_done_before_a_cancellation_is_heard():
    """What it announces may need the loop, and would wait for ever for an ended one."""
    begun, released, done = threading.Event(), threading.Event(), []

    async def announce():
        done.append("announced")

    def work():
        begun.set()
        released.wait(10)
        async_to_sync(announce)()

    task = asyncio.create_task(run_in_database(work))
    await asyncio.to_thread(begun.wait, 10)
    task.cancel()
    asyncio.get_running_loop().call_later(0.05, released.set)

    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == ["announced"]

import asyncio
import ipaddress
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from asgiref.sync import async_to_sync
from django.db import connection, transaction
from django.utils import timezone

from catalog.health.scheduler import (
    CatalogEntryTargets,
    HostLimiter,
    Prober,
    run_in_database,
)
from catalog.health.status import record_probes
from catalog.models import AgentType, CatalogEntry, Source, Status
from catalog.registration.service import register
from tests.factories import AgentTypeFactory, CatalogEntryFactory, card_bytes
from tests.probes import failure, success
from tests.servers import never_respond, reply, run_server
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

CONCURRENCY = 8
HOUR = 3600
# Seconds of the lease of a prober process.
LEASE = 8
# Seconds to wait for an event that always comes.
DEADLINE = 60


@pytest.fixture
def agent_host(settings):
    """Yield a host that serves the cards of many agents."""
    settings.AGENTLENS_ALLOWED_NETWORKS = [ipaddress.ip_network("127.0.0.0/8")]
    with run_server() as server:
        yield server


def claim(limit):
    return CatalogEntryTargets().claim(limit, due=timezone.now())


def create_due_entries(server, count, **fields):
    """Create due entries whose cards are at /0, /1 and so on."""
    entries = [
        CatalogEntryFactory(
            agent_type=AgentTypeFactory(provider=None),
            status=Status.UNKNOWN,
            next_probe_at=timezone.now(),
            source_url=server.url(f"/{n}"),
            **fields,
        )
        for n in range(count)
    ]
    for n in range(count):
        server.routes[f"/{n}"] = reply(body=card_bytes())
    return entries


def move_to_host(server):
    """Move the endpoints of all agents to the host of this server."""
    for agent_type in AgentType.objects.all():
        agent_type.endpoint = server.url(f"/{agent_type.pk}")
        agent_type.save()


def probe_all_due():
    return async_to_sync(Prober().probe_all_due)()


def get_database_url():
    """Return the URL of the test database, for other processes."""
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return os.environ["DATABASE_URL"].rsplit("/", 1)[0] + f"/{name}"


def start_prober(lease, interval=HOUR):
    """Start a prober process with a lease and an interval in seconds."""
    environment = os.environ | {
        "DATABASE_URL": get_database_url(),
        "AGENTLENS_ALLOWED_NETWORKS": "127.0.0.0/8",
        "AGENTLENS_PROBE_CONCURRENCY": str(CONCURRENCY),
        "AGENTLENS_PROBES_PER_HOST": str(CONCURRENCY),
        "AGENTLENS_PROBE_INTERVAL": str(interval),
        "AGENTLENS_PROBE_LEASE": str(lease),
        "AGENTLENS_PROBE_TIMEOUT": str(min(20, lease - 1)),
    }
    command = [sys.executable, "-m", "agentlens.cli", "probe"]
    return subprocess.Popen(command, env=environment)


def count_probed():
    return CatalogEntry.objects.filter(last_probed_at__isnull=False).count()


def get_lease_ends():
    """Return when the leases of claimed, unprobed entries end, by card path."""
    entries = CatalogEntry.objects.filter(last_probed_at=None)
    leased = entries.filter(next_probe_at__gt=timezone.now())
    return {urlsplit(entry.source_url).path: entry.next_probe_at for entry in leased}


def stop_processes(processes, signal_number=signal.SIGTERM):
    for process in processes:
        process.send_signal(signal_number)
        process.wait(30)


def test_prober_probes_only_due_entries(agent_host):
    entries = create_due_entries(agent_host, 10)
    later = CatalogEntryFactory(next_probe_at=timezone.now() + timedelta(hours=1))
    count = probe_all_due()

    assert count == 10
    assert Counter(agent_host.paths) == {f"/{n}": 1 for n in range(10)}
    statuses = CatalogEntry.objects.filter(pk__in=[entry.pk for entry in entries])
    assert set(statuses.values_list("status", flat=True)) == {Status.ACTIVE}
    later.refresh_from_db()
    assert later.last_probed_at is None


@pytest.mark.parametrize(
    "fields", [{"status": Status.DEPRECATED}, {"source": Source.DEMO}]
)
def test_deprecated_and_demo_entries_are_not_claimed(fields):
    CatalogEntryFactory(next_probe_at=timezone.now(), **fields)

    assert claim(10) == []


def test_claimed_entry_is_not_claimed_again_before_lease_ends(settings):
    CatalogEntryFactory.create_batch(5, next_probe_at=timezone.now())

    assert (len(claim(3)), len(claim(3)), len(claim(3))) == (3, 2, 0)
    settings.AGENTLENS_PROBE_LEASE = -1
    CatalogEntry.objects.update(next_probe_at=timezone.now())
    assert (len(claim(9)), len(claim(9))) == (5, 5)


def test_concurrent_probes_of_host_are_limited(agent_host, settings):
    settings.AGENTLENS_PROBES_PER_HOST = 2
    settings.AGENTLENS_PROBE_TIMEOUT = settings.AGENTLENS_FETCH_TIMEOUT = 50
    active_requests, active_counts, others_queued = [], [], threading.Event()

    def respond(request):
        active_requests.append(request)
        active_counts.append(len(active_requests))
        others_queued.wait(DEADLINE)
        active_requests.pop()
        return [reply(body=card_bytes())]

    async def scenario():
        async with asyncio.timeout(DEADLINE), Prober() as prober:
            await prober.start_due_probes()
            while prober.queued_count < 6 or len(active_counts) < 2:
                await asyncio.sleep(0.02)
            others_queued.set()
            await asyncio.gather(*prober.running)

    create_due_entries(agent_host, 8)
    move_to_host(agent_host)
    agent_host.routes = dict.fromkeys(agent_host.routes, respond)
    asyncio.run(scenario())

    assert len(active_counts) == 8
    assert max(active_counts) == 2


def test_two_probers_share_due_entries_without_duplicates(agent_host):
    """The intervals of the probers differ and show which one probed an entry."""
    create_due_entries(agent_host, 400)
    both_running = threading.Event()

    def respond(request):
        # More requests than one prober sends at once: the other one runs, too.
        if len(agent_host.requests) > CONCURRENCY:
            both_running.set()
        both_running.wait(15)
        return [reply(body=card_bytes())]

    agent_host.routes = dict.fromkeys(agent_host.routes, respond)
    probers = [start_prober(60, HOUR), start_prober(60, 24 * HOUR)]
    try:
        wait_until(lambda: count_probed() == 400)
    finally:
        stop_processes(probers)

    assert Counter(agent_host.paths) == {f"/{n}": 1 for n in range(400)}
    middle = timezone.now() + timedelta(hours=12)
    counts = [
        CatalogEntry.objects.filter(next_probe_at__lt=middle).count(),
        CatalogEntry.objects.filter(next_probe_at__gt=middle).count(),
    ]
    assert sum(counts) == 400
    assert min(counts) >= CONCURRENCY


def test_entries_of_killed_prober_are_probed_after_their_lease(agent_host):
    create_due_entries(agent_host, 80)
    quick = {"/0", "/1", "/2", "/3"}
    probes, first_killed = [], threading.Event()

    def respond(request):
        probes.append((request.path, timezone.now()))
        if request.path not in quick:
            first_killed.wait(15)
        return [reply(body=card_bytes())]

    agent_host.routes = dict.fromkeys(agent_host.routes, respond)
    first = start_prober(LEASE)
    try:
        wait_until(lambda: count_probed() == 4 and len(probes) == 4 + CONCURRENCY)
    finally:
        stop_processes([first], signal.SIGKILL)
    first_probes, lease_ends = list(probes), get_lease_ends()
    first_killed.set()
    second = start_prober(LEASE)
    try:
        wait_until(lambda: count_probed() == 80)
    finally:
        stop_processes([second])

    interrupted = {path for path, _ in first_probes} - quick
    expected = {f"/{n}": 1 + (f"/{n}" in interrupted) for n in range(80)}
    assert Counter(agent_host.paths) == expected
    assert 80 > len(lease_ends) > len(interrupted) == CONCURRENCY
    second_probes = probes[len(first_probes) :]
    assert all(
        moment > lease_ends[path]
        for path, moment in second_probes
        if path in lease_ends
    )
    assert not CatalogEntry.objects.exclude(status=Status.ACTIVE).exists()


def test_entry_whose_lease_ended_in_queue_is_not_probed(agent_host, settings):
    """All agents are on one unresponsive host; none is probed twice."""
    settings.AGENTLENS_PROBE_LEASE = 2
    settings.AGENTLENS_PROBE_TIMEOUT = 0.2
    settings.AGENTLENS_PROBES_PER_HOST = 1
    create_due_entries(agent_host, 30)
    move_to_host(agent_host)
    agent_host.routes = dict.fromkeys(agent_host.routes, never_respond)
    probe_all_due()

    probe_counts = Counter(agent_host.paths)
    assert 0 < len(probe_counts) < 30
    assert set(probe_counts.values()) == {1}


def test_probe_all_due_ends_although_entries_become_due_again(agent_host, settings):
    settings.AGENTLENS_PROBE_INTERVAL = 0
    create_due_entries(agent_host, 20)

    assert probe_all_due() == 20


def test_failure_to_save_one_result_does_not_affect_others(
    agent_host, monkeypatch, caplog
):
    entries = create_due_entries(agent_host, 5)
    failing_id = entries[2].pk

    def save_results(self, outcomes):
        if any(entry.pk == failing_id for entry, _ in outcomes):
            raise ValueError("Cannot be saved")
        return record_probes(outcomes)

    monkeypatch.setattr(CatalogEntryTargets, "save_results", save_results)
    probe_all_due()

    assert count_probed() == 4
    assert f"Could not save the probe of {failing_id}" in caplog.text


def test_concurrent_claims_return_different_entries():
    CatalogEntryFactory.create_batch(10, next_probe_at=timezone.now())
    first_claimed, second_started = threading.Event(), threading.Event()
    second_claimed = threading.Event()
    # SQLite has a single writer: there, the second claim waits for the first one.
    can_overlap = connection.features.has_select_for_update_skip_locked

    def claim_first():
        try:
            with transaction.atomic():
                entries = claim(3)
                first_claimed.set()
                event = second_claimed if can_overlap else second_started
                assert event.wait(DEADLINE)
            return entries
        finally:
            connection.close()

    with ThreadPoolExecutor() as executor:
        first_claim = executor.submit(claim_first)
        assert first_claimed.wait(DEADLINE)
        second_started.set()
        claims = [claim(10)]
        second_claimed.set()
        claims.insert(0, first_claim.result())

    assert [len(entries) for entries in claims] == [3, 7]
    assert len({entry.pk for entries in claims for entry in entries}) == 10


def test_unresponsive_host_does_not_delay_other_hosts(agent_host, settings):
    settings.AGENTLENS_PROBES_PER_HOST = 2
    settings.AGENTLENS_PROBE_CONCURRENCY = 4
    settings.AGENTLENS_PROBE_TIMEOUT = settings.AGENTLENS_FETCH_TIMEOUT = 60
    create_due_entries(agent_host, 30)
    agent_host.routes = dict.fromkeys(agent_host.routes, never_respond)
    quick = CatalogEntryFactory(agent_type__provider=None)

    async def scenario():
        async with asyncio.timeout(20), Prober() as prober:
            await prober.start_due_probes()
            await run_in_database(make_due, quick)
            await prober.start_due_probes()
            while not await run_in_database(count_probed):
                await asyncio.sleep(0.02)

    with run_server("127.0.0.2") as other:
        other.routes[f"/{quick.pk}"] = reply(body=card_bytes())
        source_url = other.url(f"/{quick.pk}")
        CatalogEntry.objects.filter(pk=quick.pk).update(source_url=source_url)
        asyncio.run(scenario())
    quick.refresh_from_db()
    assert quick.status == Status.ACTIVE


def make_due(entry):
    CatalogEntry.objects.filter(pk=entry.pk).update(next_probe_at=timezone.now())


def test_only_one_offline_entry_of_failing_host_is_probed(agent_host, settings):
    settings.AGENTLENS_PROBES_PER_HOST = 1
    entries = create_due_entries(agent_host, 10)
    set_offline(offline_since=timedelta(minutes=59))
    agent_host.routes = dict.fromkeys(agent_host.routes, reply(500))
    assert probe_all_due() == 1

    assert len(agent_host.requests) == 1
    not_due = CatalogEntry.objects.filter(next_probe_at__gt=timezone.now())
    assert not_due.count() == len(entries)


def set_offline(offline_since):
    """Make all entries offline, last probed this long ago."""
    CatalogEntry.objects.update(
        status=Status.OFFLINE,
        consecutive_failures=5,
        last_probed_at=timezone.now() - offline_since,
    )


def test_entry_offline_for_an_hour_is_probed_even_if_host_fails(agent_host, settings):
    """Otherwise an agent that is running again would stay unnoticed for days."""
    settings.AGENTLENS_PROBES_PER_HOST = 1
    create_due_entries(agent_host, 10)
    set_offline(offline_since=timedelta(minutes=61))
    running = CatalogEntry.objects.order_by("pk").last()
    agent_host.routes = dict.fromkeys(agent_host.routes, reply(500))
    agent_host.routes[urlsplit(running.source_url).path] = reply(body=card_bytes())
    probe_all_due()

    assert len(agent_host.requests) == 10
    assert CatalogEntry.objects.get(status=Status.ACTIVE) == running


def test_entries_not_offline_are_probed_even_if_host_fails(agent_host, settings):
    settings.AGENTLENS_PROBES_PER_HOST = 1
    create_due_entries(agent_host, 5)
    agent_host.routes = dict.fromkeys(agent_host.routes, reply(500))
    probe_all_due()

    assert len(agent_host.requests) == 5
    degraded = CatalogEntry.objects.filter(status=Status.DEGRADED)
    assert degraded.count() == 5


async def test_host_pause_doubles_up_to_limit_and_ends_with_success(
    settings, monkeypatch
):
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    limiter, pauses = HostLimiter(), []
    for _ in range(12):
        # Failures during a pause do not make it longer.
        limiter.record_outcome(failure())
        limiter.record_outcome(failure())
        pauses.append(limiter.remaining_pause / 60)
        now = limiter.paused_until

    assert pauses[:4] == [1, 1, 2, 4]
    assert pauses[-1] == 60
    limiter.record_outcome(success())
    assert limiter.remaining_pause == 0


def test_entries_beyond_queue_limit_are_postponed(agent_host, settings):
    settings.AGENTLENS_PROBE_QUEUE = 4
    settings.AGENTLENS_PROBES_PER_HOST = 1
    create_due_entries(agent_host, 20)

    async def scenario():
        async with Prober() as prober:
            await prober.start_due_probes()
            await asyncio.gather(*prober.running)

    asyncio.run(scenario())
    postponed = CatalogEntry.objects.filter(
        last_probed_at=None,
        next_probe_at__lt=timezone.now() + timedelta(seconds=15),
    )
    assert 0 < postponed.count() < 20
    assert postponed.count() + count_probed() == 20


def test_probe_all_due_ignores_queue_limit(agent_host, settings):
    settings.AGENTLENS_PROBE_QUEUE = 4
    settings.AGENTLENS_PROBES_PER_HOST = 1
    create_due_entries(agent_host, 20)

    assert probe_all_due() == 20
    assert count_probed() == 20


def test_prober_process_stops_quickly_on_sigterm(agent_host):
    create_due_entries(agent_host, 40)
    agent_host.routes = dict.fromkeys(agent_host.routes, never_respond)
    prober = start_prober(60)
    wait_until(lambda: len(agent_host.requests) == CONCURRENCY)
    start = time.monotonic()
    stop_processes([prober])

    assert prober.returncode == 0
    assert time.monotonic() - start < 15


async def test_run_in_database_finishes_before_cancellation():
    """Publishing events may need the loop and would wait forever for a closed one."""
    started, released, events = threading.Event(), threading.Event(), []

    async def publish():
        events.append("published")

    def work():
        started.set()
        released.wait(DEADLINE)
        async_to_sync(publish)()

    task = asyncio.create_task(run_in_database(work))
    assert await asyncio.to_thread(started.wait, DEADLINE)
    task.cancel()
    for _ in range(3):
        # The task receives the cancellation.
        await asyncio.sleep(0)
    assert not task.done()
    released.set()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert events == ["published"]


@pytest.mark.parametrize("is_registered_again", [True, False])
def test_offline_agent_that_is_not_probed_any_more_becomes_active(is_registered_again):
    """An earlier version probed URLs with variables as they are written."""
    remote = {"type": "streamable-http", "url": "https://{tenant}.example.com/mcp"}
    server = {"name": "io.example/a", "version": "1.0.0", "remotes": [remote]}
    definition = json.dumps(server).encode()
    register(definition)
    CatalogEntry.objects.update(
        status=Status.OFFLINE,
        consecutive_failures=5,
        last_error="DNS lookup failed",
        next_probe_at=timezone.now(),
    )
    if is_registered_again:
        register(definition)
    else:
        assert probe_all_due() == 0

    entry = CatalogEntry.objects.get()
    assert (entry.status, entry.last_error) == (Status.ACTIVE, "")
    assert (entry.consecutive_failures, entry.next_probe_at) == (0, None)

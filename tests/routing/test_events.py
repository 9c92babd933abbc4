"""What happens to registrations, as a program hears it on a real WebSocket."""

import asyncio
import json
import os
import re
import select
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import httpx2
import pytest
import redis
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import transaction
from django.test import Client
from django.utils import timezone
from knox.models import AuthToken
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from catalog.conf import conf
from catalog.events import consumers as live
from catalog.health.scheduler import Prober
from catalog.health.status import record_probe
from catalog.ingestion.curation import curate
from catalog.models import Status
from routing import health_checks, service
from routing.cleanup import remove_drained
from routing.events import REGISTRY_GROUP
from routing.models import CapabilityRegistration, DesiredState
from tests.catalog.health.test_scheduler import database_url
from tests.factories import AgentTypeFactory, CatalogEntryFactory, UserFactory
from tests.probes import failed, well
from tests.servers import LOOPBACK, serving

pytestmark = pytest.mark.django_db(transaction=True)

PLACE = "/ws/capabilities"
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
UPGRADE = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)
# Registers so many capabilities of an agent, in a process that serves nobody.
SCRIPT = """
import sys
import django
django.setup()
from routing import service
for n in range(int(sys.argv[2])):
    service.register(service.find_agent(sys.argv[1]), f"task-{n}")
"""


def bearer(role="Viewer"):
    _, token = AuthToken.objects.create(UserFactory(role=role))
    return {"Authorization": f"Bearer {token}"}


@contextmanager
def opened(server, query="", headers=None, **options):
    url = server.replace("http", "ws") + PLACE + query
    headers = bearer() if headers is None else headers
    with connect(url, additional_headers=headers, **options) as stream:
        yield stream


follow = opened


def heard(stream, count):
    """So many events, in the order they came."""
    return [json.loads(stream.recv(timeout=20)) for _ in range(count)]


def nothing_more(stream):
    with pytest.raises(TimeoutError):
        stream.recv(timeout=0.3)


def closed_with(stream):
    with pytest.raises(ConnectionClosed) as closed:
        stream.recv(timeout=20)
    return closed.value.rcvd.code


def names(events):
    return [event["data"]["capability"] for event in events]


def kinds(events):
    return [event["type"].removeprefix("capability_") for event in events]


def test_a_registration_is_told_as_the_seed_says(server):
    entry = CatalogEntryFactory()
    with follow(server) as stream:
        service.register(entry, "data-analysis", priority=100)
        [event] = heard(stream, 1)

    assert TIMESTAMP.fullmatch(event.pop("timestamp"))
    assert event == {
        "type": "capability_registered",
        "data": {
            "agent_id": str(entry.pk),
            "capability": "data-analysis",
            "priority": 100,
        },
    }


def test_a_change_of_health_is_told_as_the_seed_says(server):
    entry = CatalogEntryFactory()
    service.register(entry, "data-analysis")
    with follow(server) as stream:
        for probe in (failed(), failed(), failed(error="Connection timeout"), well()):
            record_probe(entry, probe)
        worse, gone, back = heard(stream, 3)

    about = {"agent_id": str(entry.pk), "capability": "data-analysis"}
    assert TIMESTAMP.fullmatch(gone.pop("timestamp"))
    assert gone == {
        "type": "capability_health_changed",
        "data": about
        | {
            "old_status": "degraded",
            "new_status": "unhealthy",
            "error": "Connection timeout",
            "code": "HEALTH_CHECK_FAILED",
        },
    }
    assert worse["data"]["old_status"] == "healthy"
    assert back["data"] == about | {"old_status": "unhealthy", "new_status": "healthy"}


def test_from_healthy_to_unhealthy_as_in_the_seeds_example(server, settings):
    settings.AGENTLENS_OFFLINE_AFTER = 1
    entry = CatalogEntryFactory()
    service.register(entry, "data-analysis")
    with follow(server) as stream:
        record_probe(entry, failed(error="Connection timeout"))
        [event] = heard(stream, 1)

    assert event.pop("timestamp")
    assert event == {
        "type": "capability_health_changed",
        "data": {
            "agent_id": str(entry.pk),
            "capability": "data-analysis",
            "old_status": "healthy",
            "new_status": "unhealthy",
            "error": "Connection timeout",
            "code": "HEALTH_CHECK_FAILED",
        },
    }


def test_another_address_to_check_is_another_health(server):
    one = service.register(
        CatalogEntryFactory(), "data-analysis", health_check_url="/a"
    )
    for _ in range(3):
        health_checks.record_probe(one, failed())
    with follow(server) as stream:
        service.update(one, {"health_check_url": "/b"})
        told = heard(stream, 2)

    assert kinds(told) == ["health_changed", "updated"]
    assert told[0]["data"]["old_status"] == "unhealthy"
    assert told[0]["data"]["new_status"] == "unknown"
    assert not one.check_hours.exists()


def test_an_update_tells_what_is_another_now_and_nothing_else(server):
    one = service.register(CatalogEntryFactory(), "data-analysis", priority=10)
    with follow(server) as stream:
        service.update(one, {"priority": 10})
        changes = {"priority": 20, "metadata": {"a": 1}, "version": "1.0.0"}
        service.update(one, changes)
        service.update(one, {"intent": DesiredState.INACTIVE})
        told = heard(stream, 2)
        nothing_more(stream)

    about = {"agent_id": one.agent_id, "capability": "data-analysis", "priority": 20}
    assert [event["type"] for event in told] == ["capability_updated"] * 2
    assert [event["data"] for event in told] == [
        about | {"changed": ["metadata", "priority"]},
        about | {"changed": ["status"]},
    ]


def test_unregistering_tells_which_it_was(server):
    one = service.register(CatalogEntryFactory(), "data-analysis")
    with follow(server) as stream:
        service.unregister(one)
        [event] = heard(stream, 1)

    assert TIMESTAMP.fullmatch(event.pop("timestamp"))
    assert event == {
        "type": "capability_unregistered",
        "data": {
            "agent_id": one.agent_id,
            "capability": "data-analysis",
            "registration_id": event["data"]["registration_id"],
        },
    }
    assert event["data"]["registration_id"].startswith("cap-reg-")


def test_draining_is_an_update_and_in_the_end_an_unregistration(server, settings):
    settings.AGENTLENS_DRAIN_SECONDS = 0
    one = service.register(CatalogEntryFactory(), "data-analysis")
    with follow(server) as stream:
        service.unregister(one, drain=True)
        remove_drained()
        told = heard(stream, 2)

    assert kinds(told) == ["updated", "unregistered"]
    assert told[0]["data"]["changed"] == ["status"]


def test_what_an_agent_offered_goes_with_it(server):
    entry = CatalogEntryFactory()
    for name in ("data-analysis", "web-search"):
        service.register(entry, name)
    with follow(server) as stream:
        entry.delete()
        told = heard(stream, 2)
        nothing_more(stream)

    assert kinds(told) == ["unregistered"] * 2
    assert set(names(told)) == {"data-analysis", "web-search"}
    assert {event["data"]["agent_id"] for event in told} == {str(entry.pk)}


def test_a_probe_of_the_agent_is_told_for_all_it_offers_but_what_has_its_own(server):
    entry = CatalogEntryFactory(status=Status.UNKNOWN)
    service.register(entry, "data-analysis")
    service.register(entry, "web-search")
    service.register(entry, "translation", health_check_url="/health")
    with follow(server) as stream:
        record_probe(entry, well())
        told = heard(stream, 2)
        nothing_more(stream)

    assert set(names(told)) == {"data-analysis", "web-search"}
    states = {(e["data"]["old_status"], e["data"]["new_status"]) for e in told}
    assert states == {("unknown", "healthy")}


def test_its_own_check_is_told_by_the_prober(server, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with serving() as host, follow(server) as stream:
        url = host.url("/health")
        service.register(CatalogEntryFactory(), "web-search", health_check_url=url)
        for _ in range(4):
            CapabilityRegistration.objects.update(next_check_at=timezone.now())
            async_to_sync(Prober().probe_all_due)()
        told = heard(stream, 3)
        nothing_more(stream)

    assert kinds(told) == ["registered", "health_changed", "health_changed"]
    moves = [(e["data"]["old_status"], e["data"]["new_status"]) for e in told[1:]]
    assert moves == [("unknown", "degraded"), ("degraded", "unhealthy")]
    assert {e["data"]["error"] for e in told[1:]} == {"HTTP 404"}


def test_giving_an_agent_up_is_told_whatever_check_it_has(server):
    entry = CatalogEntryFactory()
    one = service.register(entry, "web-search", health_check_url="/health")
    health_checks.record_probe(one, well())
    with follow(server) as stream:
        curate(entry, {"status": Status.DEPRECATED}, by=UserFactory())
        [event] = heard(stream, 1)

    assert event["data"]["old_status"] == "healthy"
    assert event["data"]["new_status"] == "unhealthy"


def test_where_a_check_has_no_address_its_agents_health_is_told(server):
    entry = CatalogEntryFactory(
        agent_type=AgentTypeFactory(endpoint="config:DataAnalyzer")
    )
    service.register(entry, "web-search", health_check_url="/health")
    with follow(server) as stream:
        curate(entry, {"status": Status.DEPRECATED}, by=UserFactory())
        [event] = heard(stream, 1)

    assert event["data"]["new_status"] == "unhealthy"


def test_one_may_follow_some_capabilities_only(server):
    entry = CatalogEntryFactory()
    with follow(server, "?capability=web-search&capability=translation") as stream:
        for name in ("data-analysis", "web-search", "image-processing", "translation"):
            service.register(entry, name)
        entry.delete()
        told = heard(stream, 4)
        nothing_more(stream)

    assert kinds(told) == ["registered"] * 2 + ["unregistered"] * 2
    assert names(told[:2]) == ["web-search", "translation"]
    assert set(names(told[2:])) == {"web-search", "translation"}


@contextmanager
def streamed(server, query="", **options):
    """The events as they come over plain HTTP."""
    url = f"{server}/api/v1/registry/events{query}"
    options = {"headers": bearer(), "timeout": 20} | options
    with httpx2.stream("GET", url, **options) as response:
        yield response


def test_without_a_socket_events_come_one_after_the_other(server):
    entry = CatalogEntryFactory()
    with streamed(server, "?capability=web-search") as response:
        lines = response.iter_lines()
        assert [next(lines), next(lines)] == [": listening", ""]
        service.register(entry, "data-analysis")
        service.register(entry, "web-search", priority=7)
        kind, told, end = next(lines), next(lines), next(lines)

    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-store"
    assert (kind, end) == ("event: capability_registered", "")
    data = json.loads(told.removeprefix("data: "))["data"]
    assert (data["capability"], data["priority"]) == ("web-search", 7)


def test_a_stream_without_news_is_kept_alive(server, settings):
    settings.AGENTLENS_HEARTBEAT = 0.1
    with streamed(server) as response:
        lines = response.iter_lines()
        beats = [next(lines) for _ in range(6)][2::2]

    assert beats == [": still here"] * 2


def test_a_stream_ends_when_one_has_to_show_again_who_one_is(server, settings):
    settings.AGENTLENS_CONNECTION_LIFETIME = 0.2
    with streamed(server) as response:
        assert list(response.iter_lines()) == [": listening", ""]


def test_a_stream_is_for_those_who_may_read_and_only_read(server):
    url = f"{server}/api/v1/registry/events"
    foreign = bearer() | {"Origin": "https://evil.example"}
    answers = [
        httpx2.get(url),
        httpx2.get(url, headers=bearer(role=None)),
        httpx2.get(url, headers=foreign),
        httpx2.post(url, headers=bearer()),
    ]

    assert [(a.status_code, a.json()["code"]) for a in answers] == [
        (401, "NOT_AUTHENTICATED"),
        (403, "PERMISSION_DENIED"),
        (403, "PERMISSION_DENIED"),
        (405, "METHOD_NOT_ALLOWED"),
    ]
    assert answers[3].headers["Allow"] == "GET"
    told = answers[0]
    assert told.json()["request_id"] == told.headers["X-Request-ID"] != "-"


ODD_QUESTIONS = {
    "?x=1": "Unknown parameter: x",
    "?capability=a-b&x=1": "Unknown parameter: x",
    "?capability=BAD": "capability must be lowercase words",
    "?capability=web-search&capability=a%2Fb": "capability must be lowercase words",
}


@pytest.mark.parametrize(("query", "words"), ODD_QUESTIONS.items())
def test_a_question_that_makes_no_sense_is_told_so_and_not_ignored(
    server, query, words
):
    url = f"{server}/api/v1/registry/events{query}"
    answer = httpx2.get(url, headers=bearer())
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_PARAMETER")
    assert answer.json()["error"].startswith(words)

    with opened(server, query) as stream, pytest.raises(ConnectionClosed) as closed:
        stream.recv(timeout=20)
    assert closed.value.rcvd.code == 4400
    assert closed.value.rcvd.reason.startswith(words)


def test_an_empty_value_means_absent(server):
    with follow(server, "?capability=") as stream:
        service.register(CatalogEntryFactory(), "web-search")
        assert names(heard(stream, 1)) == ["web-search"]


def test_a_stream_has_an_id_as_every_answer(server):
    headers = bearer() | {"X-Request-ID": "mine"}
    with streamed(server, headers=headers) as response:
        assert response.headers["X-Request-ID"] == "mine"
        assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_a_stranger_is_told_to_say_who_it_is(server):
    for headers in ({}, {"Authorization": "Bearer nonsense"}):
        with opened(server, headers=headers) as stream:
            assert closed_with(stream) == 4401


def test_somebody_without_a_role_may_not(server):
    with opened(server, headers=bearer(role=None)) as stream:
        assert closed_with(stream) == 4403


def test_where_everybody_may_read_everybody_may_listen(server, settings):
    settings.AGENTLENS_ANONYMOUS_READ = True
    with follow(server, headers={}) as stream:
        service.register(CatalogEntryFactory(), "web-search")
        assert names(heard(stream, 1)) == ["web-search"]


def test_another_sites_page_is_refused_and_our_own_is_not(server):
    browser = Client()
    browser.force_login(UserFactory(role="Viewer"))
    cookie = {"Cookie": f"sessionid={browser.cookies['sessionid'].value}"}
    with (
        pytest.raises(InvalidStatus) as refused,
        opened(server, headers=cookie, origin="https://evil.example"),
    ):
        pass
    assert refused.value.response.status_code == 403

    with follow(server, headers=cookie, origin=server) as stream:
        service.register(CatalogEntryFactory(), "web-search")
        assert names(heard(stream, 1)) == ["web-search"]


def test_what_was_taken_back_before_the_end_is_never_told(server):
    entry = CatalogEntryFactory()
    one = service.register(entry, "web-search")
    with follow(server) as stream:
        with transaction.atomic():
            service.register(entry, "data-analysis")
            service.update(one, {"priority": 7})
            service.unregister(one)
            transaction.set_rollback(True)
        service.register(entry, "translation")
        told = heard(stream, 1)
        nothing_more(stream)

    assert names(told) == ["translation"]


def test_a_refused_registration_is_not_told(server):
    entry = CatalogEntryFactory()
    service.register(entry, "web-search")
    with follow(server) as stream:
        with pytest.raises(service.AlreadyRegisteredError):
            service.register(entry, "web-search")
        nothing_more(stream)


def test_two_hundred_quick_changes_arrive_in_order(server):
    one = service.register(CatalogEntryFactory(), "web-search", priority=0)
    with opened(server) as stream, opened(server) as other:
        for priority in range(1, 201):
            service.update(one, {"priority": priority})
        for listener in (stream, other):
            told = [event["data"]["priority"] for event in heard(listener, 200)]
            assert told == list(range(1, 201))


def test_whoever_is_let_in_has_missed_nothing_since(server):
    """An open socket hears what happens from then on, and not a little later."""
    one = service.register(CatalogEntryFactory(), "web-search", priority=0)
    for priority in range(1, 30):
        with opened(server) as stream:
            service.update(one, {"priority": priority})
            assert heard(stream, 1)[0]["data"]["priority"] == priority


def test_a_flood_of_events_is_heard_to_the_last(server):
    """An agent that goes takes all its offers with it, in one moment."""
    entry = CatalogEntryFactory()
    CapabilityRegistration.objects.bulk_create(
        CapabilityRegistration(entry=entry, capability=f"task-{n}") for n in range(2500)
    )
    with opened(server) as stream:
        entry.delete()
        told = heard(stream, 2500)

    assert len({event["data"]["capability"] for event in told}) == 2500


@pytest.mark.skipif(bool(settings.REDIS_URL), reason="Redis keeps no queues")
def test_what_waits_to_be_told_is_not_given_up_before_its_socket_is():
    """Channels forgets after a minute, unless it is told to be patient."""
    assert get_channel_layer().expiry > conf.CONNECTION_LIFETIME


@pytest.mark.skipif(bool(settings.REDIS_URL), reason="Redis keeps no queues")
def test_who_cannot_be_told_all_is_let_go_and_knows_it(server, monkeypatch):
    monkeypatch.setattr(get_channel_layer(), "capacity", 5)
    entry = CatalogEntryFactory()
    CapabilityRegistration.objects.bulk_create(
        CapabilityRegistration(entry=entry, capability=f"task-{n}") for n in range(500)
    )
    with opened(server) as stream:
        entry.delete()
        with pytest.raises(ConnectionClosed) as closed:
            heard(stream, 500)

    assert closed.value.rcvd.code == 4000


@contextmanager
def unread(server, path=PLACE, headers=UPGRADE, status=b" 101 "):
    """A client that listens, and then reads no byte of what it is sent."""
    place = urlsplit(server)
    with socket.socket() as pipe:
        pipe.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        pipe.settimeout(30)
        pipe.connect((place.hostname, place.port))
        lines = [f"GET {path} HTTP/1.1", f"Host: {place.netloc}", *headers]
        lines += [f"{name}: {value}" for name, value in bearer().items()]
        pipe.sendall("\r\n".join([*lines, "", ""]).encode())
        assert status in pipe.recv(4096)
        while not select.select([pipe], [], [], 0.1)[0]:
            live.send_to_group(
                REGISTRY_GROUP, {"type": "calling", "data": {"capability": "calling"}}
            )
        yield pipe


def bytes_left(pipe):
    """How much still lay on the way, up to the end of the connection."""
    size = 0
    with suppress(ConnectionResetError):
        while piece := pipe.recv(1_000_000):
            size += len(piece)
    return size


def test_who_does_not_read_is_let_go_and_the_others_go_on(server, settings):
    settings.AGENTLENS_CLIENT_PATIENCE = 0.5
    large = {"data": {"capability": "large"}, "text": "x" * 1_000_000}
    with unread(server) as silent, opened(server) as reader:
        for _ in range(20):
            live.send_to_group(REGISTRY_GROUP, large)
            assert names(heard(reader, 1)) == ["large"]
        time.sleep(1)
        service.register(CatalogEntryFactory(), "translation")
        assert names(heard(reader, 1)) == ["translation"]

        assert bytes_left(silent) < 10_000_000


def beats():
    """How many streams are kept alive, in the server's own loop."""

    async def count():
        running = (task.get_coro() for task in asyncio.all_tasks())
        return sum("LiveStream.beat" in str(one) for one in running)

    return asyncio.run_coroutine_threadsafe(count(), live.Server.loop).result(10)


def test_a_stream_that_nobody_reads_is_let_go_altogether(server, settings):
    settings.AGENTLENS_CLIENT_PATIENCE = 0.5
    large = {"type": "large", "data": {"capability": "large"}, "text": "x" * 10**6}
    place = "/api/v1/registry/events"
    others = opened(server, "?capability=translation")
    with unread(server, place, headers=(), status=b" 200 "), others as reader:
        assert beats() == 1
        for _ in range(20):
            live.send_to_group(REGISTRY_GROUP, large)
        deadline = time.monotonic() + 20
        while beats() and time.monotonic() < deadline:
            time.sleep(0.05)
        service.register(CatalogEntryFactory(), "translation")
        assert names(heard(reader, 1)) == ["translation"]
        assert beats() == 0


def test_who_leaves_before_saying_all_leaves_nothing_behind(server, caplog):
    place = urlsplit(server)
    lines = ["GET /api/v1/registry/events HTTP/1.1", f"Host: {place.netloc}"]
    lines += [f"{name}: {value}" for name, value in bearer().items()]
    lines += ["Content-Length: 100", "", "half"]
    with socket.create_connection((place.hostname, place.port)) as pipe:
        pipe.sendall("\r\n".join(lines).encode())
        time.sleep(0.3)
    with follow(server) as stream:
        service.register(CatalogEntryFactory(), "web-search")
        assert names(heard(stream, 1)) == ["web-search"]

    assert "Traceback" not in caplog.text


@pytest.mark.skipif(not settings.REDIS_URL, reason="Redis carries them across")
def test_when_the_line_to_redis_breaks_everybody_is_let_go(server):
    """What was said meanwhile did not come through; whoever comes back looks again."""
    with opened(server) as stream:
        kick_out_listeners()
        assert closed_with(stream) == 4000

    with opened(server) as stream:
        service.register(CatalogEntryFactory(), "web-search")
        assert names(heard(stream, 1)) == ["web-search"]


def kick_out_listeners():
    """As Redis does to all when it is restarted; to those of our own database here."""
    with redis.Redis.from_url(settings.REDIS_URL) as server:
        ours = str(server.connection_pool.connection_kwargs["db"])
        for client in server.client_list(_type="pubsub"):
            if client["db"] == ours:
                server.client_kill_filter(_id=client["id"])


@pytest.mark.skipif(not settings.REDIS_URL, reason="Redis carries them across")
def test_what_another_process_does_is_heard_here(server):
    entry = CatalogEntryFactory()
    environment = os.environ | {
        "DATABASE_URL": database_url(),
        "DJANGO_SETTINGS_MODULE": "agentlens.settings",
    }
    command = [sys.executable, "-c", SCRIPT, str(entry.pk), "5"]
    with follow(server) as stream:
        subprocess.run(command, env=environment, check=True, timeout=60)
        told = heard(stream, 5)

    assert names(told) == [f"task-{n}" for n in range(5)]

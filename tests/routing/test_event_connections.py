"""Connections for registry events: permissions, slow clients and lost connections."""

import asyncio
import json
import os
import select
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import httpx2
import pytest
import redis
from channels.layers import get_channel_layer
from django.conf import settings
from django.test import Client
from websockets.exceptions import ConnectionClosed, InvalidStatus

from catalog.conf import conf
from catalog.events import consumers as live
from routing import service
from routing.events import REGISTRY_GROUP
from routing.models import CapabilityRegistration
from tests.catalog.health.test_scheduler import get_database_url
from tests.factories import CatalogEntryFactory, UserFactory
from tests.routing.streams import (
    TIMEOUT_SECONDS,
    WEBSOCKET_PATH,
    build_auth_headers,
    get_capabilities,
    open_websocket,
    receive_events,
)
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

UPGRADE_HEADERS = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)
# Coroutines of which the server runs one per stream or connection.
HEARTBEAT_TASK = "LiveStream.send_heartbeats"
WEBSOCKET_TASK = "WebSocketsSansIOProtocol.run_asgi"
REQUEST_TASK = "RequestResponseCycle.run_asgi"
# Registers a number of capabilities of an agent, in a separate process.
REGISTER_SCRIPT = """
import sys
import django
django.setup()
from routing import service
for n in range(int(sys.argv[2])):
    service.register(service.find_agent(sys.argv[1]), f"task-{n}")
"""


def receive_close_code(websocket):
    with pytest.raises(ConnectionClosed) as closed:
        websocket.recv(timeout=TIMEOUT_SECONDS)
    return closed.value.rcvd.code


@contextmanager
def open_http_stream(server, query="", **options):
    """Request the events as server-sent events."""
    url = f"{server}/api/v1/registry/events{query}"
    options = {"headers": build_auth_headers(), "timeout": TIMEOUT_SECONDS} | options
    with httpx2.stream("GET", url, **options) as response:
        yield response


def test_http_stream_sends_server_sent_events(server):
    entry = CatalogEntryFactory()
    with open_http_stream(server, "?capability=web-search") as response:
        lines = response.iter_lines()
        assert [next(lines), next(lines)] == [": listening", ""]
        service.register(entry, "data-analysis")
        service.register(entry, "web-search", priority=7)
        event_line, data_line, blank_line = next(lines), next(lines), next(lines)

    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-store"
    assert (event_line, blank_line) == ("event: capability_registered", "")
    data = json.loads(data_line.removeprefix("data: "))["data"]
    assert (data["capability"], data["priority"]) == ("web-search", 7)


def test_http_stream_sends_heartbeats(server, settings):
    settings.AGENTLENS_HEARTBEAT = 0.1
    with open_http_stream(server) as response:
        lines = response.iter_lines()
        heartbeats = [next(lines) for _ in range(6)][2::2]

    assert heartbeats == [": heartbeat"] * 2


def test_http_stream_ends_after_connection_lifetime(server, settings):
    settings.AGENTLENS_CONNECTION_LIFETIME = 0.2
    with open_http_stream(server) as response:
        assert list(response.iter_lines()) == [": listening", ""]


def test_http_stream_refuses_unauthorized_requests_and_other_methods(server):
    url = f"{server}/api/v1/registry/events"
    other_origin = build_auth_headers() | {"Origin": "https://evil.example"}
    responses = [
        httpx2.get(url),
        httpx2.get(url, headers=build_auth_headers(role=None)),
        httpx2.get(url, headers=other_origin),
        httpx2.post(url, headers=build_auth_headers()),
    ]

    assert [
        (response.status_code, response.json()["code"]) for response in responses
    ] == [
        (401, "NOT_AUTHENTICATED"),
        (403, "PERMISSION_DENIED"),
        (403, "PERMISSION_DENIED"),
        (405, "METHOD_NOT_ALLOWED"),
    ]
    assert responses[3].headers["Allow"] == "GET"
    unauthenticated = responses[0]
    assert (
        unauthenticated.json()["request_id"]
        == unauthenticated.headers["X-Request-ID"]
        != "-"
    )


INVALID_QUERIES = {
    "?x=1": "Unknown parameter: x",
    "?capability=a-b&x=1": "Unknown parameter: x",
    "?capability=BAD": "capability must be lowercase words",
    "?capability=web-search&capability=a%2Fb": "capability must be lowercase words",
}


@pytest.mark.parametrize(("query", "message"), INVALID_QUERIES.items())
def test_invalid_query_is_rejected_with_reason(server, query, message):
    url = f"{server}/api/v1/registry/events{query}"
    response = httpx2.get(url, headers=build_auth_headers())
    assert (response.status_code, response.json()["code"]) == (400, "INVALID_PARAMETER")
    assert response.json()["error"].startswith(message)

    with (
        open_websocket(server, query) as websocket,
        pytest.raises(ConnectionClosed) as closed,
    ):
        websocket.recv(timeout=TIMEOUT_SECONDS)
    assert closed.value.rcvd.code == 4400
    assert closed.value.rcvd.reason.startswith(message)


def test_empty_capability_parameter_is_ignored(server):
    with open_websocket(server, "?capability=") as websocket:
        service.register(CatalogEntryFactory(), "web-search")
        assert get_capabilities(receive_events(websocket, 1)) == ["web-search"]


def test_http_stream_has_request_id_and_security_headers(server):
    headers = build_auth_headers() | {"X-Request-ID": "mine"}
    with open_http_stream(server, headers=headers) as response:
        assert response.headers["X-Request-ID"] == "mine"
        assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_websocket_without_valid_token_is_closed_with_4401(server):
    for headers in ({}, {"Authorization": "Bearer nonsense"}):
        with open_websocket(server, headers=headers) as websocket:
            assert receive_close_code(websocket) == 4401


def test_websocket_without_role_is_closed_with_4403(server):
    with open_websocket(server, headers=build_auth_headers(role=None)) as websocket:
        assert receive_close_code(websocket) == 4403


def test_anonymous_read_setting_allows_anonymous_websocket(server, settings):
    settings.AGENTLENS_ANONYMOUS_READ = True
    with open_websocket(server, headers={}) as websocket:
        service.register(CatalogEntryFactory(), "web-search")
        assert get_capabilities(receive_events(websocket, 1)) == ["web-search"]


def test_websocket_from_other_origin_is_rejected(server):
    client = Client()
    client.force_login(UserFactory(role="Viewer"))
    cookie = {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}
    with (
        pytest.raises(InvalidStatus) as refused,
        open_websocket(server, headers=cookie, origin="https://evil.example"),
    ):
        pass
    assert refused.value.response.status_code == 403

    with open_websocket(server, headers=cookie, origin=server) as websocket:
        service.register(CatalogEntryFactory(), "web-search")
        assert get_capabilities(receive_events(websocket, 1)) == ["web-search"]


def test_two_hundred_updates_arrive_in_order(server):
    registration = service.register(CatalogEntryFactory(), "web-search", priority=0)
    with open_websocket(server) as first, open_websocket(server) as second:
        for priority in range(1, 201):
            service.update(registration, {"priority": priority})
        for websocket in (first, second):
            priorities = [
                event["data"]["priority"] for event in receive_events(websocket, 200)
            ]
            assert priorities == list(range(1, 201))


def test_new_websocket_receives_all_later_events(server):
    """A connection receives every event published after it was accepted."""
    registration = service.register(CatalogEntryFactory(), "web-search", priority=0)
    for priority in range(1, 30):
        with open_websocket(server) as websocket:
            service.update(registration, {"priority": priority})
            assert receive_events(websocket, 1)[0]["data"]["priority"] == priority


def test_burst_of_events_arrives_completely(server):
    """Deleting an agent unregisters all its capabilities at once."""
    entry = CatalogEntryFactory()
    CapabilityRegistration.objects.bulk_create(
        CapabilityRegistration(entry=entry, capability=f"task-{n}") for n in range(2500)
    )
    with open_websocket(server) as websocket:
        entry.delete()
        events = receive_events(websocket, 2500)

    assert len({event["data"]["capability"] for event in events}) == 2500


@pytest.mark.skipif(
    bool(settings.REDIS_URL), reason="only the in-memory layer has queues"
)
def test_channel_layer_keeps_messages_for_connection_lifetime():
    """By default, the in-memory layer of Channels drops messages after a minute."""
    assert get_channel_layer().expiry > conf.CONNECTION_LIFETIME


@pytest.mark.skipif(
    bool(settings.REDIS_URL), reason="only the in-memory layer has queues"
)
def test_websocket_with_full_queue_is_closed_with_4000(server, monkeypatch):
    monkeypatch.setattr(get_channel_layer(), "capacity", 5)
    entry = CatalogEntryFactory()
    CapabilityRegistration.objects.bulk_create(
        CapabilityRegistration(entry=entry, capability=f"task-{n}") for n in range(500)
    )
    with open_websocket(server) as websocket:
        entry.delete()
        with pytest.raises(ConnectionClosed) as closed:
            receive_events(websocket, 500)

    assert closed.value.rcvd.code == 4000


@contextmanager
def open_unread_connection(
    server, path=WEBSOCKET_PATH, headers=UPGRADE_HEADERS, status=b" 101 "
):
    """Connect and start listening, and then read nothing."""
    url = urlsplit(server)
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(30)
        connection.connect((url.hostname, url.port))
        lines = [f"GET {path} HTTP/1.1", f"Host: {url.netloc}", *headers]
        lines += [f"{name}: {value}" for name, value in build_auth_headers().items()]
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        assert status in connection.recv(4096)
        wait_until(lambda: receives_marker(connection))
        yield connection


def receives_marker(connection):
    """Publish an event and return whether the connection has received something."""
    marker = {"type": "marker", "data": {"capability": "marker"}}
    live.send_to_group(REGISTRY_GROUP, marker)
    return bool(select.select([connection], [], [], 0.1)[0])


def count_remaining_bytes(connection):
    """Read until the connection ends; return the number of bytes."""
    size = 0
    with suppress(ConnectionResetError):
        while data := connection.recv(1_000_000):
            size += len(data)
    return size


def test_websocket_that_does_not_read_is_disconnected_without_affecting_others(
    server, settings
):
    settings.AGENTLENS_CLIENT_TIMEOUT = 0.5
    large = {"data": {"capability": "large"}, "text": "x" * 1_000_000}
    with open_unread_connection(server) as unread, open_websocket(server) as reader:
        for _ in range(20):
            live.send_to_group(REGISTRY_GROUP, large)
            assert get_capabilities(receive_events(reader, 1)) == ["large"]
        wait_until(lambda: count_tasks(WEBSOCKET_TASK) == 1)
        service.register(CatalogEntryFactory(), "translation")
        assert get_capabilities(receive_events(reader, 1)) == ["translation"]

        assert count_remaining_bytes(unread) < 10_000_000


def count_tasks(name):
    """Return the number of tasks of this coroutine in the server's event loop."""

    async def count():
        return sum(name in str(task.get_coro()) for task in asyncio.all_tasks())

    return asyncio.run_coroutine_threadsafe(count(), live.ServerLoop.loop).result(10)


def test_http_stream_that_is_not_read_is_disconnected_with_its_tasks(server, settings):
    settings.AGENTLENS_CLIENT_TIMEOUT = 0.5
    large = {"type": "large", "data": {"capability": "large"}, "text": "x" * 10**6}
    path = "/api/v1/registry/events"
    filtered = open_websocket(server, "?capability=translation")
    with (
        open_unread_connection(server, path, headers=(), status=b" 200 "),
        filtered as reader,
    ):
        assert count_tasks(HEARTBEAT_TASK) == 1
        for _ in range(20):
            live.send_to_group(REGISTRY_GROUP, large)
        wait_until(lambda: count_tasks(HEARTBEAT_TASK) == 0)
        service.register(CatalogEntryFactory(), "translation")
        assert get_capabilities(receive_events(reader, 1)) == ["translation"]


def test_client_disconnecting_during_request_leaves_no_error(server, caplog):
    url = urlsplit(server)
    lines = ["GET /api/v1/registry/events HTTP/1.1", f"Host: {url.netloc}"]
    lines += [f"{name}: {value}" for name, value in build_auth_headers().items()]
    lines += ["Content-Length: 100", "", "half"]
    with open_websocket(server) as websocket:
        with socket.create_connection((url.hostname, url.port)) as connection:
            connection.sendall("\r\n".join(lines).encode())
            wait_until(lambda: count_tasks(REQUEST_TASK) == 1)
        wait_until(lambda: count_tasks(REQUEST_TASK) == 0)
        service.register(CatalogEntryFactory(), "web-search")
        assert get_capabilities(receive_events(websocket, 1)) == ["web-search"]

    assert "Traceback" not in caplog.text


@pytest.mark.skipif(not settings.REDIS_URL, reason="needs Redis")
def test_websockets_are_closed_with_4000_when_redis_disconnects(server):
    """Events were lost meanwhile, so clients must reconnect and reload."""
    with open_websocket(server) as websocket:
        disconnect_redis_subscribers()
        assert receive_close_code(websocket) == 4000

    with open_websocket(server) as websocket:
        service.register(CatalogEntryFactory(), "web-search")
        assert get_capabilities(receive_events(websocket, 1)) == ["web-search"]


def disconnect_redis_subscribers():
    """Close the subscriptions of our Redis database, as a restart of Redis does."""
    with redis.Redis.from_url(settings.REDIS_URL) as server:
        database = str(server.connection_pool.connection_kwargs["db"])
        for client in server.client_list(_type="pubsub"):
            if client["db"] == database:
                server.client_kill_filter(_id=client["id"])


@pytest.mark.skipif(not settings.REDIS_URL, reason="needs Redis")
def test_event_from_another_process_arrives(server):
    entry = CatalogEntryFactory()
    environment = os.environ | {
        "DATABASE_URL": get_database_url(),
        "DJANGO_SETTINGS_MODULE": "agentlens.settings",
    }
    command = [sys.executable, "-c", REGISTER_SCRIPT, str(entry.pk), "5"]
    with open_websocket(server) as websocket:
        subprocess.run(command, env=environment, check=True, timeout=60)
        events = receive_events(websocket, 5)

    assert get_capabilities(events) == [f"task-{n}" for n in range(5)]

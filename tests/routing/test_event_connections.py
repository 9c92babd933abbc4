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
from websockets.exceptions import ConnectionClosed, InvalidStatus

from catalog.conf import conf
from catalog.events import consumers as live
from routing import service
from routing.events import REGISTRY_GROUP
from routing.models import CapabilityRegistration
from tests.catalog.health.test_scheduler import get_database_url
from tests.factories import CatalogEntryFactory
from tests.routing.streams import WEBSOCKET_PATH, get_capabilities, open_websocket
from tests.waiting import wait_until
from tests.websockets import (
    TIMEOUT_SECONDS,
    create_auth_headers,
    create_session_headers,
    receive_close_code,
    receive_events,
)

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


@contextmanager
def open_http_stream(agentlens_url, query="", **options):
    """Request the events as server-sent events."""
    url = f"{agentlens_url}/api/v1/registry/events{query}"
    options = {"headers": create_auth_headers(), "timeout": TIMEOUT_SECONDS} | options
    with httpx2.stream("GET", url, **options) as response:
        yield response


def test_http_stream_sends_server_sent_events(agentlens_url):
    entry = CatalogEntryFactory()
    with open_http_stream(agentlens_url, "?capability=web-search") as response:
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


def test_http_stream_sends_heartbeats(agentlens_url, settings):
    settings.AGENTLENS_HEARTBEAT = 0.1
    with open_http_stream(agentlens_url) as response:
        lines = response.iter_lines()
        heartbeats = [next(lines) for _ in range(6)][2::2]

    assert heartbeats == [": heartbeat"] * 2


def test_http_stream_ends_after_connection_lifetime(agentlens_url, settings):
    settings.AGENTLENS_CONNECTION_LIFETIME = 0.2
    with open_http_stream(agentlens_url) as response:
        assert list(response.iter_lines()) == [": listening", ""]


def test_http_stream_rejects_unauthorized_requests_and_other_methods(agentlens_url):
    url = f"{agentlens_url}/api/v1/registry/events"
    other_origin = create_auth_headers() | {"Origin": "https://evil.example"}
    responses = [
        httpx2.get(url),
        httpx2.get(url, headers=create_auth_headers(role=None)),
        httpx2.get(url, headers=other_origin),
        httpx2.post(url, headers=create_auth_headers()),
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
def test_invalid_query_is_rejected_with_reason(agentlens_url, query, message):
    url = f"{agentlens_url}/api/v1/registry/events{query}"
    response = httpx2.get(url, headers=create_auth_headers())
    assert (response.status_code, response.json()["code"]) == (400, "INVALID_PARAMETER")
    assert response.json()["error"].startswith(message)

    with (
        open_websocket(agentlens_url, query) as websocket,
        pytest.raises(ConnectionClosed) as closed,
    ):
        websocket.recv(timeout=TIMEOUT_SECONDS)
    assert closed.value.rcvd.code == 4400
    assert closed.value.rcvd.reason.startswith(message)


def test_empty_capability_parameter_is_ignored(agentlens_url):
    with open_websocket(agentlens_url, "?capability=") as websocket:
        service.register(CatalogEntryFactory(), "web-search")
        assert get_capabilities(receive_events(websocket, 1)) == ["web-search"]


def test_http_stream_has_request_id_and_security_headers(agentlens_url):
    headers = create_auth_headers() | {"X-Request-ID": "mine"}
    with open_http_stream(agentlens_url, headers=headers) as response:
        assert response.headers["X-Request-ID"] == "mine"
        assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_websocket_without_valid_token_is_closed_with_4401(agentlens_url):
    for headers in ({}, {"Authorization": "Bearer nonsense"}):
        with open_websocket(agentlens_url, headers=headers) as websocket:
            assert receive_close_code(websocket) == 4401


def test_websocket_without_role_is_closed_with_4403(agentlens_url):
    with open_websocket(
        agentlens_url, headers=create_auth_headers(role=None)
    ) as websocket:
        assert receive_close_code(websocket) == 4403


def test_anonymous_read_setting_allows_anonymous_websocket(agentlens_url, settings):
    settings.AGENTLENS_ANONYMOUS_READ = True
    with open_websocket(agentlens_url, headers={}) as websocket:
        service.register(CatalogEntryFactory(), "web-search")
        assert get_capabilities(receive_events(websocket, 1)) == ["web-search"]


def test_websocket_from_other_origin_is_rejected(agentlens_url):
    headers = create_session_headers()
    with (
        pytest.raises(InvalidStatus) as rejected,
        open_websocket(agentlens_url, headers=headers, origin="https://evil.example"),
    ):
        pass
    assert rejected.value.response.status_code == 403

    with open_websocket(
        agentlens_url, headers=headers, origin=agentlens_url
    ) as websocket:
        service.register(CatalogEntryFactory(), "web-search")
        assert get_capabilities(receive_events(websocket, 1)) == ["web-search"]


def test_two_hundred_updates_arrive_in_order(agentlens_url):
    registration = service.register(CatalogEntryFactory(), "web-search", priority=0)
    with (
        open_websocket(agentlens_url) as first,
        open_websocket(agentlens_url) as second,
    ):
        for priority in range(1, 201):
            service.update(registration, {"priority": priority})
        for websocket in (first, second):
            priorities = [
                event["data"]["priority"] for event in receive_events(websocket, 200)
            ]
            assert priorities == list(range(1, 201))


def test_new_websocket_receives_all_later_events(agentlens_url):
    """A connection receives every event published after it was accepted."""
    registration = service.register(CatalogEntryFactory(), "web-search", priority=0)
    for priority in range(1, 30):
        with open_websocket(agentlens_url) as websocket:
            service.update(registration, {"priority": priority})
            assert receive_events(websocket, 1)[0]["data"]["priority"] == priority


def test_burst_of_events_arrives_completely(agentlens_url):
    """Deleting an agent unregisters all its capabilities at once."""
    entry = CatalogEntryFactory()
    CapabilityRegistration.objects.bulk_create(
        CapabilityRegistration(entry=entry, capability=f"task-{n}") for n in range(2500)
    )
    with open_websocket(agentlens_url) as websocket:
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
def test_websocket_with_full_queue_is_closed_with_4000(agentlens_url, monkeypatch):
    monkeypatch.setattr(get_channel_layer(), "capacity", 5)
    entry = CatalogEntryFactory()
    CapabilityRegistration.objects.bulk_create(
        CapabilityRegistration(entry=entry, capability=f"task-{n}") for n in range(500)
    )
    with open_websocket(agentlens_url) as websocket:
        entry.delete()
        with pytest.raises(ConnectionClosed) as closed:
            receive_events(websocket, 500)

    assert closed.value.rcvd.code == 4000


@contextmanager
def open_unread_connection(
    agentlens_url, path=WEBSOCKET_PATH, headers=UPGRADE_HEADERS, status=b" 101 "
):
    """Connect and start listening, and then read nothing."""
    url = urlsplit(agentlens_url)
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(30)
        connection.connect((url.hostname, url.port))
        lines = [f"GET {path} HTTP/1.1", f"Host: {url.netloc}", *headers]
        lines += [f"{name}: {value}" for name, value in create_auth_headers().items()]
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
    agentlens_url, settings
):
    settings.AGENTLENS_CLIENT_TIMEOUT = 0.5
    large = {"data": {"capability": "large"}, "text": "x" * 1_000_000}
    with (
        open_unread_connection(agentlens_url) as unread,
        open_websocket(agentlens_url) as reader,
    ):
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


def test_http_stream_that_is_not_read_is_disconnected_and_its_tasks_end(
    agentlens_url, settings
):
    settings.AGENTLENS_CLIENT_TIMEOUT = 0.5
    large = {"type": "large", "data": {"capability": "large"}, "text": "x" * 10**6}
    path = "/api/v1/registry/events"
    filtered = open_websocket(agentlens_url, "?capability=translation")
    with (
        open_unread_connection(agentlens_url, path, headers=(), status=b" 200 "),
        filtered as reader,
    ):
        assert count_tasks(HEARTBEAT_TASK) == 1
        for _ in range(20):
            live.send_to_group(REGISTRY_GROUP, large)
        wait_until(lambda: count_tasks(HEARTBEAT_TASK) == 0)
        service.register(CatalogEntryFactory(), "translation")
        assert get_capabilities(receive_events(reader, 1)) == ["translation"]


def test_client_disconnecting_during_request_leaves_no_error(agentlens_url, caplog):
    url = urlsplit(agentlens_url)
    lines = ["GET /api/v1/registry/events HTTP/1.1", f"Host: {url.netloc}"]
    lines += [f"{name}: {value}" for name, value in create_auth_headers().items()]
    lines += ["Content-Length: 100", "", "half"]
    with open_websocket(agentlens_url) as websocket:
        with socket.create_connection((url.hostname, url.port)) as connection:
            connection.sendall("\r\n".join(lines).encode())
            wait_until(lambda: count_tasks(REQUEST_TASK) == 1)
        wait_until(lambda: count_tasks(REQUEST_TASK) == 0)
        service.register(CatalogEntryFactory(), "web-search")
        assert get_capabilities(receive_events(websocket, 1)) == ["web-search"]

    assert "Traceback" not in caplog.text


@pytest.mark.skipif(not settings.REDIS_URL, reason="needs Redis")
def test_websockets_are_closed_with_4000_when_redis_disconnects(agentlens_url):
    """Events were lost meanwhile, so clients must reconnect and reload."""
    with open_websocket(agentlens_url) as websocket:
        disconnect_redis_subscribers()
        assert receive_close_code(websocket) == 4000

    with open_websocket(agentlens_url) as websocket:
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
def test_event_from_another_process_arrives(agentlens_url):
    entry = CatalogEntryFactory()
    environment = os.environ | {
        "DATABASE_URL": get_database_url(),
        "DJANGO_SETTINGS_MODULE": "agentlens.settings",
    }
    command = [sys.executable, "-c", REGISTER_SCRIPT, str(entry.pk), "5"]
    with open_websocket(agentlens_url) as websocket:
        subprocess.run(command, env=environment, check=True, timeout=60)
        events = receive_events(websocket, 5)

    assert get_capabilities(events) == [f"task-{n}" for n in range(5)]

"""Live events over a real WebSocket, for browsers and API clients."""

import json
from contextlib import contextmanager

import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from django.utils import timezone
from knox.models import AuthToken
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from catalog.health.scheduler import Prober
from catalog.health.status import record_probe
from catalog.ingestion.curation import curate
from catalog.models import CatalogEntry, Status
from catalog.registration.service import import_url, register
from tests.factories import CatalogEntryFactory, UserFactory, card_bytes, skill
from tests.probes import failure, success
from tests.servers import LOOPBACK, reply, run_server

pytestmark = pytest.mark.django_db(transaction=True)

CATALOG_SOCKET = "/ws/catalog"


@contextmanager
def open_socket(server, path=CATALOG_SOCKET, headers=None, origin=None):
    url = server.replace("http", "ws") + path
    with connect(url, additional_headers=headers or {}, origin=origin) as socket:
        yield socket


def receive_event(socket) -> dict:
    return json.loads(socket.recv(timeout=20))


def create_bearer_header(role="Viewer"):
    _, token = AuthToken.objects.create(UserFactory(role=role))
    return {"Authorization": f"Bearer {token}"}


def create_session_cookie(role="Viewer"):
    browser = Client()
    browser.force_login(UserFactory(role=role))
    return {"Cookie": f"sessionid={browser.cookies['sessionid'].value}"}


def receive_close_code(socket) -> int:
    with pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=20)
    return closed.value.rcvd.code


def receives_new_event(socket) -> bool:
    """Change an entry and return whether the next event is about it."""
    entry = CatalogEntryFactory()
    curate(entry, {"status": Status.DEPRECATED}, by=UserFactory())
    return receive_event(socket)["entry_id"] == str(entry.pk)


@pytest.mark.parametrize("create_header", [create_bearer_header, create_session_cookie])
def test_socket_sends_every_status_change(server, create_header):
    with open_socket(server, headers=create_header()) as socket:
        entry = CatalogEntryFactory(status=Status.UNKNOWN)
        for probe in (success(80), failure(), failure(), failure(), success(90)):
            record_probe(entry, probe)
        events = [receive_event(socket) for _ in range(4)]

    assert {event["entry_id"] for event in events} == {str(entry.pk)}
    assert [(event["before"], event["status"]) for event in events] == [
        ("unknown", "active"),
        ("active", "degraded"),
        ("degraded", "offline"),
        ("offline", "active"),
    ]
    assert events[2]["error"] == "HTTP 503"
    assert 'class="badge status offline"' in events[2]["badge"]


def test_socket_sends_status_changes_of_running_agent(server, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK

    def probe():
        CatalogEntry.objects.update(next_probe_at=timezone.now())
        async_to_sync(Prober().probe_all_due)()

    def receive_change():
        event = receive_event(socket)
        return event["before"], event["status"]

    with open_socket(server, headers=create_bearer_header()) as socket:
        with run_server() as agent:
            agent.routes["/card"] = reply(body=card_bytes())
            import_url(agent.url("/card"))
            events = [receive_event(socket)["type"], receive_change()]
        for _ in range(3):
            probe()
        events += [receive_change(), receive_change()]
        with run_server(port=agent.port) as restarted:
            restarted.routes = agent.routes
            probe()
            events.append(receive_change())

    assert events == [
        "entry_added",
        ("unknown", "active"),
        ("active", "degraded"),
        ("degraded", "offline"),
        ("offline", "active"),
    ]


def test_socket_sends_added_changed_and_removed_entries(server):
    with open_socket(server, headers=create_bearer_header()) as socket:
        entry = register(card_bytes()).entry
        register(card_bytes(skills=[skill("Other")]))
        entry.delete()
        events = [receive_event(socket) for _ in range(3)]

    assert [event["type"] for event in events] == [
        "entry_added",
        "definition_changed",
        "entry_removed",
    ]


def test_socket_without_credentials_closes_with_4401(server):
    with open_socket(server) as socket:
        assert receive_close_code(socket) == 4401


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer nonsense"},
        {"Authorization": "Bearer"},
        {"Cookie": "sessionid=nonsense"},
    ],
)
def test_socket_with_invalid_credentials_closes_with_4401(server, headers):
    with open_socket(server, headers=headers) as socket:
        assert receive_close_code(socket) == 4401


def test_socket_without_role_closes_with_4403(server):
    with open_socket(server, headers=create_bearer_header(role=None)) as socket:
        assert receive_close_code(socket) == 4403


def test_anonymous_read_permits_anonymous_socket(server, settings):
    settings.AGENTLENS_ANONYMOUS_READ = True
    with open_socket(server) as socket:
        assert receives_new_event(socket)


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://127.0.0.1:1", "null", "file://"]
)
def test_socket_from_other_origin_is_rejected(server, origin):
    with (
        pytest.raises(InvalidStatus) as rejected,
        open_socket(server, headers=create_session_cookie(), origin=origin),
    ):
        pass
    assert rejected.value.response.status_code == 403


def test_socket_from_same_origin_is_accepted(server):
    headers = create_session_cookie()
    with open_socket(server, headers=headers, origin=server) as socket:
        assert receives_new_event(socket)


@pytest.mark.parametrize("path", ["/ws/nowhere", "/ws", "/catalog"])
def test_unknown_socket_path_is_rejected(server, path):
    with (
        pytest.raises(InvalidStatus),
        open_socket(server, path, create_bearer_header()),
    ):
        pass


def test_messages_from_client_are_ignored(server):
    with open_socket(server, headers=create_bearer_header()) as socket:
        for message in ("{", b"\xff", "[]" * 1000):
            socket.send(message)
        assert receives_new_event(socket)

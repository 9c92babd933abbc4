"""Live events over a real WebSocket, for browsers and API clients."""

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone
from websockets.exceptions import InvalidStatus

from catalog.health.scheduler import Prober
from catalog.health.status import record_probe
from catalog.ingestion.curation import curate
from catalog.models import CatalogEntry, Status
from catalog.registration.service import import_url, register
from tests.factories import CatalogEntryFactory, UserFactory, card_bytes, skill
from tests.probes import failure, success
from tests.servers import LOOPBACK, reply, run_server
from tests.websockets import (
    create_auth_headers,
    create_session_headers,
    open_websocket,
    receive_close_code,
    receive_events,
)

pytestmark = pytest.mark.django_db(transaction=True)

CATALOG_PATH = "/ws/catalog"


def open_socket(agentlens_url, headers=None, **options):
    """Connect to the events of the catalog, by default as a viewer."""
    return open_websocket(agentlens_url, CATALOG_PATH, headers, **options)


def receive_event(socket) -> dict:
    return receive_events(socket, 1)[0]


def receives_new_event(socket) -> bool:
    """Change an entry and return whether the next event is about it."""
    entry = CatalogEntryFactory()
    curate(entry, {"status": Status.DEPRECATED}, by=UserFactory())
    return receive_event(socket)["entry_id"] == str(entry.pk)


@pytest.mark.parametrize("create_header", [create_auth_headers, create_session_headers])
def test_socket_sends_every_status_change(agentlens_url, create_header):
    with open_socket(agentlens_url, headers=create_header()) as socket:
        entry = CatalogEntryFactory(status=Status.UNKNOWN)
        for probe in (success(80), failure(), failure(), failure(), success(90)):
            record_probe(entry, probe)
        events = receive_events(socket, 4)

    assert {event["entry_id"] for event in events} == {str(entry.pk)}
    assert [(event["before"], event["status"]) for event in events] == [
        ("unknown", "active"),
        ("active", "degraded"),
        ("degraded", "offline"),
        ("offline", "active"),
    ]
    assert events[2]["error"] == "HTTP 503"
    assert 'class="badge status offline"' in events[2]["badge"]


def test_socket_sends_status_changes_of_running_agent(agentlens_url, settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK

    def probe():
        CatalogEntry.objects.update(next_probe_at=timezone.now())
        async_to_sync(Prober().probe_all_due)()

    def receive_change():
        event = receive_event(socket)
        return event["before"], event["status"]

    with open_socket(agentlens_url) as socket:
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


def test_socket_sends_added_changed_and_removed_entries(agentlens_url):
    with open_socket(agentlens_url) as socket:
        entry = register(card_bytes()).entry
        register(card_bytes(skills=[skill("Other")]))
        entry.delete()
        events = receive_events(socket, 3)

    assert [event["type"] for event in events] == [
        "entry_added",
        "definition_changed",
        "entry_removed",
    ]


def test_socket_sends_what_changed_and_what_breaks_clients_t14(agentlens_url):
    entry = register(card_bytes()).entry
    with open_socket(agentlens_url) as socket:
        card = card_bytes(version="2.0.0", capabilities={"streaming": False})
        register(card)
        event = receive_event(socket)

    assert event == {
        "type": "definition_changed",
        "entry_id": str(entry.pk),
        "added": 0,
        "removed": 0,
        "changed": 1,
        "fields": ["version"],
        "breaking": True,
        "breaking_count": 1,
        "breaking_reasons": ["Feature transport.streaming: feature lost"],
        "details": [
            {
                "kind": "agent.feature",
                "name": "transport.streaming",
                "field": "value",
                "path": "",
                "from": True,
                "to": False,
                "breaking": True,
                "reason": "feature lost",
            },
            {
                "field": "version",
                "path": "",
                "from": "1.0.0",
                "to": "2.0.0",
                "breaking": False,
                "reason": "changed",
            },
        ],
        "omitted": 0,
    }


def test_socket_without_credentials_closes_with_4401(agentlens_url):
    with open_socket(agentlens_url, headers={}) as socket:
        assert receive_close_code(socket) == 4401


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer nonsense"},
        {"Authorization": "Bearer"},
        {"Cookie": "sessionid=nonsense"},
    ],
)
def test_socket_with_invalid_credentials_closes_with_4401(agentlens_url, headers):
    with open_socket(agentlens_url, headers=headers) as socket:
        assert receive_close_code(socket) == 4401


def test_socket_without_role_closes_with_4403(agentlens_url):
    with open_socket(agentlens_url, headers=create_auth_headers(role=None)) as socket:
        assert receive_close_code(socket) == 4403


def test_anonymous_read_permits_anonymous_socket(agentlens_url, settings):
    settings.AGENTLENS_ANONYMOUS_READ = True
    with open_socket(agentlens_url, headers={}) as socket:
        assert receives_new_event(socket)


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://127.0.0.1:1", "null", "file://"]
)
def test_socket_from_other_origin_is_rejected(agentlens_url, origin):
    with (
        pytest.raises(InvalidStatus) as rejected,
        open_socket(agentlens_url, headers=create_session_headers(), origin=origin),
    ):
        pass
    assert rejected.value.response.status_code == 403


def test_socket_from_same_origin_is_accepted(agentlens_url):
    headers = create_session_headers()
    with open_socket(agentlens_url, headers=headers, origin=agentlens_url) as socket:
        assert receives_new_event(socket)


@pytest.mark.parametrize("path", ["/ws/nowhere", "/ws", "/catalog"])
def test_unknown_socket_path_is_rejected(agentlens_url, path):
    with (
        pytest.raises(InvalidStatus),
        open_websocket(agentlens_url, path),
    ):
        pass


def test_messages_from_client_are_ignored(agentlens_url):
    with open_socket(agentlens_url) as socket:
        for message in ("{", b"\xff", "[]" * 1000):
            socket.send(message)
        assert receives_new_event(socket)

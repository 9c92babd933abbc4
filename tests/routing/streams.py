"""WebSocket clients for the events of the registry."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from knox.models import AuthToken
from websockets.sync.client import ClientConnection, connect

from catalog.events import send_to_group
from routing.events import REGISTRY_GROUP
from tests.factories import UserFactory

WEBSOCKET_PATH = "/ws/capabilities"
TIMEOUT_SECONDS = 20


def build_auth_headers(role: str | None = "Viewer") -> dict[str, str]:
    """Return the headers of a new user of this role."""
    _, token = AuthToken.objects.create(UserFactory(role=role))
    return {"Authorization": f"Bearer {token}"}


@contextmanager
def open_websocket(
    server: str, query: str = "", headers: dict | None = None, **options
) -> Iterator[ClientConnection]:
    """Connect to the WebSocket, by default as a viewer."""
    url = server.replace("http", "ws") + WEBSOCKET_PATH + query
    headers = build_auth_headers() if headers is None else headers
    with connect(url, additional_headers=headers, **options) as websocket:
        yield websocket


def receive_events(websocket: ClientConnection, count: int) -> list[dict]:
    """Return the next `count` events in the order in which they arrive."""
    return [json.loads(websocket.recv(timeout=TIMEOUT_SECONDS)) for _ in range(count)]


def assert_no_more_events(
    websocket: ClientConnection, capability: str = "marker"
) -> None:
    """Send a marker event and check that it is the next one to arrive.

    Events arrive in order. The marker's capability must pass the client's filter.
    """
    marker = {"type": "marker", "data": {"capability": capability}}
    send_to_group(REGISTRY_GROUP, marker)
    assert receive_events(websocket, 1) == [marker]


def get_capabilities(events: list[dict]) -> list[str]:
    return [event["data"]["capability"] for event in events]


def get_event_types(events: list[dict]) -> list[str]:
    """Return the types of the events without their common prefix."""
    return [event["type"].removeprefix("capability_") for event in events]

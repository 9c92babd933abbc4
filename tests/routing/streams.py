"""WebSocket clients for the events of the registry."""

from contextlib import AbstractContextManager

from websockets.sync.client import ClientConnection

from catalog.events import send_to_group
from routing.events import REGISTRY_GROUP
from tests import websockets
from tests.websockets import receive_events

WEBSOCKET_PATH = "/ws/capabilities"


def open_websocket(
    agentlens_url: str, query: str = "", headers: dict | None = None, **options
) -> AbstractContextManager[ClientConnection]:
    """Connect to the events of the registry, by default as a viewer."""
    path = WEBSOCKET_PATH + query
    return websockets.open_websocket(agentlens_url, path, headers, **options)


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

"""WebSocket clients with credentials of new users."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.test import Client
from knox.models import AuthToken
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.factories import UserFactory

TIMEOUT_SECONDS = 20


def create_auth_headers(role: str | None = "Viewer") -> dict[str, str]:
    """Return the headers for the API token of a new user of this role."""
    _, token = AuthToken.objects.create(UserFactory(role=role))
    return {"Authorization": f"Bearer {token}"}


def create_session_headers(role: str = "Viewer") -> dict[str, str]:
    """Return the headers for the session of a new user of this role."""
    client = Client()
    client.force_login(UserFactory(role=role))
    return {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}


@contextmanager
def open_websocket(
    agentlens_url: str, path: str, headers: dict | None = None, **options
) -> Iterator[ClientConnection]:
    """Connect to the WebSocket at this path, by default as a viewer."""
    url = agentlens_url.replace("http", "ws") + path
    headers = create_auth_headers() if headers is None else headers
    with connect(url, additional_headers=headers, **options) as websocket:
        yield websocket


def receive_events(websocket: ClientConnection, count: int) -> list[dict]:
    """Return the next `count` events in the order in which they arrive."""
    return [json.loads(websocket.recv(timeout=TIMEOUT_SECONDS)) for _ in range(count)]


def receive_close_code(websocket: ClientConnection) -> int:
    """Return the code with which the server closes the WebSocket."""
    with pytest.raises(ConnectionClosed) as closed:
        websocket.recv(timeout=TIMEOUT_SECONDS)
    return closed.value.rcvd.code

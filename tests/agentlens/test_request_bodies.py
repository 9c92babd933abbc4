"""Request bodies sent over a real connection."""

import socket

import httpx2
import pytest
from knox.models import AuthToken

from catalog.models import CatalogEntry
from tests.factories import UserFactory, card_bytes

REGISTER_PATH = "/api/v1/catalog/register"
# A request whose body never arrives completely.
INCOMPLETE_REQUEST = (
    f"POST {REGISTER_PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999\r\n\r\n{{"
).encode()


@pytest.fixture
def http_client(agentlens_url):
    _, token = AuthToken.objects.create(UserFactory(role="Editor"))
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with httpx2.Client(base_url=agentlens_url, headers=headers, timeout=30) as client:
        yield client


def iter_chunks(body: bytes):
    """Yield the body in chunks, so that httpx2 sends it without a length."""
    for start in range(0, len(body), 100):
        yield body[start : start + 100]


def test_chunked_body_is_accepted(http_client):
    response = http_client.post(REGISTER_PATH, content=iter_chunks(card_bytes()))

    assert response.status_code == 201
    assert CatalogEntry.objects.get().agent_type.definition == card_bytes()


@pytest.mark.parametrize("size", [1_048_577, 2_000_000, 6_000_000])
@pytest.mark.parametrize("chunked", [True, False])
def test_too_large_body_returns_413(http_client, size, chunked):
    body = b" " * size
    chunks = (body[n : n + 65536] for n in range(0, size, 65536))
    response = http_client.post(REGISTER_PATH, content=chunks if chunked else body)

    assert response.status_code == 413
    assert response.json()["code"] == "BODY_TOO_LARGE"


def test_slow_senders_do_not_block_other_requests(http_client):
    address = (http_client.base_url.host, http_client.base_url.port)
    senders = [socket.create_connection(address) for _ in range(40)]
    for sender in senders:
        sender.sendall(INCOMPLETE_REQUEST)

    assert http_client.get("/readyz", timeout=20).status_code == 200
    for sender in senders:
        sender.close()


def test_aborted_request_stores_nothing(http_client):
    address = (http_client.base_url.host, http_client.base_url.port)
    with socket.create_connection(address) as sender:
        sender.sendall(INCOMPLETE_REQUEST)

    assert http_client.get("/api/v1/catalog").json()["total"] == 0

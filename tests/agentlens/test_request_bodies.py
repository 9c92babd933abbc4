"""Bodies as they come over a real connection."""

import socket

import httpx2
import pytest
from knox.models import AuthToken

from catalog.models import CatalogEntry
from tests.factories import UserFactory, card_bytes

REGISTER = "/api/v1/catalog/register"


@pytest.fixture
def wire(server):
    _, token = AuthToken.objects.create(UserFactory(role="Editor"))
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with httpx2.Client(base_url=server, headers=headers, timeout=30) as client:
        yield client


def in_pieces(body: bytes):
    """Sent chunked, because nobody knows its length."""
    for start in range(0, len(body), 100):
        yield body[start : start + 100]


def test_a_chunked_body_is_a_body(wire):
    answer = wire.post(REGISTER, content=in_pieces(card_bytes()))

    assert answer.status_code == 201
    assert CatalogEntry.objects.get().agent_type.definition == card_bytes()


@pytest.mark.parametrize("size", [1_048_577, 2_000_000, 6_000_000])
@pytest.mark.parametrize("chunked", [True, False])
def test_a_body_that_is_too_large_is_told_so(wire, size, chunked):
    body = b" " * size
    whole_kib = (body[n : n + 65536] for n in range(0, size, 65536))
    answer = wire.post(REGISTER, content=whole_kib if chunked else body)

    assert answer.status_code == 413
    assert answer.json()["code"] == "BODY_TOO_LARGE"


def test_slow_senders_keep_nobody_else_waiting(wire):
    address = (wire.base_url.host, wire.base_url.port)
    head = f"POST {REGISTER} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n"
    senders = [socket.create_connection(address) for _ in range(40)]
    for sender in senders:
        sender.sendall(head.encode() + b"{")

    assert wire.get("/readyz", timeout=20).status_code == 200
    for sender in senders:
        sender.close()


def test_a_sender_who_goes_away_leaves_nothing_behind(wire):
    address = (wire.base_url.host, wire.base_url.port)
    with socket.create_connection(address) as sender:
        lines = [f"POST {REGISTER} HTTP/1.1", "Host: localhost", "Content-Length: 999"]
        sender.sendall("\r\n".join([*lines, "", "{"]).encode())

    assert wire.get("/api/v1/catalog").json()["total"] == 0

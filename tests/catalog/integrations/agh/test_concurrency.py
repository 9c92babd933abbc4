"""Envelopes that are received concurrently."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from capabilities.protocols.agh.errors import EnvelopeError, ReasonCode
from catalog.integrations.agh.directory import find_peer
from catalog.models import CatalogEntry
from tests.catalog.integrations.agh.envelopes import (
    build_card,
    build_document,
    build_greet,
    build_greet_from_card,
    build_transfer,
    get_capabilities,
    get_documented_names,
    receive_envelopes,
)

pytestmark = pytest.mark.django_db(transaction=True)


def receive_in_thread(envelope: dict) -> None:
    try:
        receive_envelopes(envelope)
    finally:
        connections.close_all()


def receive_concurrently(envelopes: list[dict]) -> None:
    with ThreadPoolExecutor(len(envelopes)) as pool:
        list(pool.map(receive_in_thread, envelopes))


def test_concurrent_greets_and_transfers_lose_no_document():
    receive_envelopes(build_greet("brief"))
    ids = [f"id-{n}" for n in range(20)]
    receive_concurrently(
        [build_transfer(build_document(name)) for name in ids]
        + [build_greet(*ids[: n + 1], "brief") for n in range(20)]
    )

    assert CatalogEntry.objects.count() == 1
    assert get_documented_names() == set(ids)
    assert "brief" in get_capabilities()


def test_concurrent_first_greets_and_transfers_lose_no_document():
    ids = [f"id-{n}" for n in range(10)]
    transfers = [build_transfer(build_document(name)) for name in ids]
    receive_concurrently([*transfers, *(build_greet("brief") for _ in range(10))])

    assert CatalogEntry.objects.count() == 1
    assert get_documented_names() == set(ids)


def test_concurrent_transfer_does_not_restore_older_card():
    """A transfer must not write back a card that it read before the greet."""
    for n in range(6):
        receive_envelopes(build_greet("old"))
        greet = build_greet_from_card(build_card("new", display_name=f"New {n}"))
        receive_concurrently(
            [greet, *(build_transfer(build_document(f"id-{i}")) for i in range(8))]
        )

        assert find_peer("designer").card.display_name == f"New {n}"
        assert find_peer("designer").card.capabilities[0] == "new"


def test_concurrent_first_transfer_does_not_replace_greeted_card():
    for n in range(6):
        peer_id = f"peer-{n}"
        transfers = [
            build_transfer(build_document(f"id-{i}"), sender=peer_id) for i in range(8)
        ]
        receive_concurrently(
            [*transfers[:4], build_greet("brief", sender=peer_id), *transfers[4:]]
        )

        assert find_peer(peer_id).card.capabilities[0] == "brief"


def test_concurrent_equal_envelopes_are_accepted_once():
    envelope = build_greet("a")

    def is_accepted(_) -> bool:
        try:
            receive_in_thread(envelope)
        except EnvelopeError as error:
            return error.reason_code != ReasonCode.DUPLICATE
        return True

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(is_accepted, range(20))) == 1

"""What is stored from whois responses that peers send to AgentLens."""

import json

import pytest

from catalog.models import CatalogEntry, Status

from .envelopes import (
    BRIEF_KEY,
    CATALOG_KEY,
    WRONG_DIGEST,
    assert_rejected,
    build_card,
    build_document,
    build_greet,
    build_transfer,
    build_whois,
    build_whois_response,
    fetch_transfer,
    get_capabilities,
    get_documented_names,
    get_entry,
    get_malformed_path,
    send_envelopes,
)

pytestmark = pytest.mark.django_db


def test_received_response_stores_card_and_documents(editor_api):
    document = build_document("a", acme={"x": 1})
    assert (
        send_envelopes(editor_api, build_whois_response(build_card("a", "b"), document))
        == []
    )

    assert get_entry().status == Status.ACTIVE
    assert get_capabilities()["a"]["document"] == document
    assert get_capabilities()["a"]["verified"]
    assert get_documented_names() == {"a"}


def test_received_response_adds_documents_of_known_peer(editor_api):
    send_envelopes(
        editor_api,
        build_greet("a", "b"),
        build_whois_response(build_card("a", "b"), build_document("b")),
    )

    assert get_documented_names() == {"b"}
    assert set(get_capabilities()) == {"a", "b"}


def test_received_response_with_wrong_digest_stores_nothing(editor_api):
    send_envelopes(
        editor_api,
        build_greet("a", "b"),
        build_transfer(build_document("a", version="1")),
    )
    documents = [
        build_document("a", version="2", digest=WRONG_DIGEST),
        build_document("b"),
    ]
    response = build_whois_response(build_card("a", "b"), *documents)
    assert_rejected(
        editor_api, response, 422, "VERIFICATION_FAILED", "verification_failed"
    )

    assert get_documented_names() == {"a"}
    assert get_capabilities()["a"]["document"]["version"] == "1"


@pytest.mark.parametrize(
    "catalog",
    [None, [], {}, {"capabilities": None}, {"capabilities": [1, {}]}],
    ids=json.dumps,
)
def test_received_response_with_malformed_catalog_is_rejected(editor_api, catalog):
    path = get_malformed_path(
        editor_api, build_whois_response(build_card("a"), ext={CATALOG_KEY: catalog})
    )

    assert path.startswith(f"$.ext['{CATALOG_KEY}']")
    assert not CatalogEntry.objects.exists()


def test_filtered_catalog_keeps_other_documents(documented_peer, editor_api):
    send_envelopes(
        editor_api, build_whois_response(build_card("b", "a", "c"), build_document("b"))
    )

    assert get_documented_names() == {"a", "b", "c"}


def test_narrowed_card_keeps_other_capabilities(documented_peer, editor_api):
    """AGH's runtime reduces the card of a response to the requested capabilities."""
    narrowed_card = build_card("a", display_name="New name")
    send_envelopes(editor_api, build_whois_response(narrowed_card, build_document("a")))

    assert set(get_capabilities()) == {"a", "b", "c"}
    (response,) = send_envelopes(editor_api, build_whois(to="designer"))
    card = response["body"]["peer_card"]
    assert card["capabilities"] == ["b", "a", "c"]
    assert [brief["id"] for brief in card["ext"][BRIEF_KEY]] == ["b", "a", "c"]
    assert card["display_name"] == "New name"


def test_empty_narrowed_card_keeps_capabilities(documented_peer, editor_api):
    send_envelopes(editor_api, build_whois_response(build_card()))

    assert get_documented_names() == {"a", "c"}
    assert set(get_capabilities()) == {"a", "b", "c"}


def test_document_without_digest_does_not_replace_verified_document(editor_api):
    send_envelopes(
        editor_api,
        build_greet("a"),
        build_transfer(build_document("a"), ext={"acme.x": 1}),
    )
    document = build_document("a", outcome="Something else.")
    del document["digest"]
    send_envelopes(editor_api, build_whois_response(build_card("a"), document))

    assert get_capabilities()["a"]["document"]["outcome"] == "a is done."
    assert get_capabilities()["a"]["verified"]


def test_document_without_digest_keeps_verification_and_ext(editor_api):
    send_envelopes(
        editor_api,
        build_greet("a"),
        build_transfer(build_document("a"), ext={"acme.x": 1}),
    )
    document = build_document("a")
    del document["digest"]
    send_envelopes(editor_api, build_whois_response(build_card("a"), document))

    assert get_capabilities()["a"]["verified"]
    transfer = fetch_transfer(editor_api, "a")
    assert transfer["ext"] == {"acme.x": 1}

"""Digests, secrets, privileges and permissions in the AGH API."""

import pytest
from rest_framework.test import APIClient

from catalog.models import CatalogEntry
from tests.api_errors import assert_error_response

from .envelopes import (
    PEERS_URL,
    WRONG_DIGEST,
    assert_rejected,
    build_card,
    build_document,
    build_greet,
    build_greet_from_card,
    build_transfer,
    build_whois,
    build_whois_response,
    count_stored_rows,
    get_capabilities,
    get_malformed_path,
    post_envelope,
    send_envelopes,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "document",
    [
        build_document(digest=WRONG_DIGEST),
        build_document(digest="md5:1"),
        build_document() | {"outcome": "Another."},
    ],
    ids=["wrong", "other-algorithm", "of-other-document"],
)
def test_transfer_with_wrong_digest_is_rejected_and_stores_nothing(
    editor_api, document
):
    envelope = build_transfer(document)
    body = assert_rejected(
        editor_api, envelope, 422, "VERIFICATION_FAILED", "verification_failed"
    )

    assert body["details"]["path"] == "$.body.capability.digest"
    assert count_stored_rows() == 0


def test_transfer_with_wrong_digest_keeps_stored_document(editor_api):
    send_envelopes(
        editor_api,
        build_greet("build-site"),
        build_transfer(build_document(version="1")),
    )
    envelope = build_transfer(build_document(version="2", digest=WRONG_DIGEST))
    assert_rejected(
        editor_api, envelope, 422, "VERIFICATION_FAILED", "verification_failed"
    )

    assert get_capabilities()["build-site"]["document"]["version"] == "1"


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"ext": {"acme": {"API-Key": "x"}}}, "$.ext.acme.API-Key"),
        ({"proof": {"client_secret": "x"}}, "$.proof.client_secret"),
        (
            {"body": {"capability": build_document(hints=[{"Password": "x"}])}},
            "$.body.capability.hints[0].Password",
        ),
    ],
    ids=["ext", "proof", "body"],
)
def test_member_named_like_a_secret_is_rejected_with_path(editor_api, members, path):
    envelope = build_transfer(build_document(), **members)

    assert get_malformed_path(editor_api, envelope) == path
    assert count_stored_rows() == 0


def test_empty_secret_and_secret_hash_are_accepted(editor_api):
    send_envelopes(
        editor_api, build_greet(ext={"token": "", "password_hash": "x", "tokens": 7})
    )


def test_privileged_capability_in_card_is_rejected_without_proof(editor_api):
    error = (422, "VERIFICATION_FAILED", "verification_failed")
    assert_rejected(editor_api, build_greet("task.write"), *error)
    assert_rejected(editor_api, build_greet("task.write", proof={}), *error)
    assert_rejected(editor_api, build_whois_response(build_card("task.write")), *error)

    assert count_stored_rows() == 0
    send_envelopes(editor_api, build_greet("task.write", proof={"sig": "x"}))


def test_broadcast_skips_privileged_peer_and_reaches_others(editor_api):
    send_envelopes(
        editor_api,
        build_greet("task.write", proof={"sig": "x"}),
        build_greet(sender="coder"),
    )

    senders = {
        response["from"] for response in send_envelopes(editor_api, build_whois())
    }
    assert "coder" in senders


def test_broadcast_skips_registered_privileged_card_and_reaches_others(editor_api):
    card = build_card("task.write", peer_id="writer", channel="builders")
    editor_api.post("/api/v1/catalog/register", card, format="json")
    CatalogEntry.objects.update(status="active")
    send_envelopes(editor_api, build_greet())

    senders = {
        response["from"] for response in send_envelopes(editor_api, build_whois())
    }
    assert "designer" in senders


def test_registering_card_with_secret_returns_422(editor_api):
    card = build_card(peer_id="leaky", ext={"acme": [{"token": "x"}]})
    response = editor_api.post("/api/v1/catalog/register", card, format="json")
    body = assert_error_response(response, 422, "INVALID_DEFINITION")

    assert body["details"]["errors"][0]["path"] == "$.ext.acme[0].token"
    assert count_stored_rows() == 0


@pytest.mark.parametrize("build", [build_greet_from_card, build_whois_response])
def test_card_of_another_sender_is_rejected(editor_api, build):
    envelope = build(build_card()) | {"from": "other-peer"}

    assert get_malformed_path(editor_api, envelope) == "$.body.peer_card.peer_id"
    assert count_stored_rows() == 0


@pytest.mark.parametrize(
    "build",
    [
        build_greet,
        lambda: build_transfer(build_document()),
        lambda: build_whois_response(build_card(), build_document()),
    ],
    ids=["greet", "capability", "whois-response"],
)
def test_viewer_can_send_only_whois_requests(viewer_api, build):
    assert_error_response(post_envelope(viewer_api, build()), 403, "PERMISSION_DENIED")
    assert count_stored_rows() == 0
    (response,) = send_envelopes(viewer_api, build_whois())
    assert response["from"] == "agentlens"


def test_anonymous_requests_return_401():
    anonymous_client = APIClient()

    assert_error_response(
        post_envelope(anonymous_client, build_whois()), 401, "NOT_AUTHENTICATED"
    )
    for url in (f"{PEERS_URL}/agentlens", f"{PEERS_URL}/agentlens/capabilities/x"):
        assert_error_response(anonymous_client.get(url), 401, "NOT_AUTHENTICATED")

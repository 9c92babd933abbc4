"""Which envelopes the API accepts, and how it rejects the others."""

import json
import time

import pytest

from catalog.integrations.agh.inbox import delete_expired_envelopes
from catalog.integrations.agh.models import SeenEnvelope
from catalog.models import CatalogEntry
from tests.api_errors import assert_error_response

from .envelopes import (
    ENVELOPES_URL,
    PEERS_URL,
    SIZE_LIMIT,
    WRONG_DIGEST,
    assert_rejected,
    build_card,
    build_document,
    build_envelope,
    build_greet,
    build_greet_from_card,
    build_transfer,
    build_whois,
    build_whois_response,
    count_stored_rows,
    get_documented_names,
    get_entry,
    get_malformed_path,
    post_envelope,
    send_envelopes,
)

pytestmark = pytest.mark.django_db


def build_padded_greet(size: int) -> bytes:
    """Return a greet of exactly this many bytes."""
    envelope = build_greet(padding="")
    envelope["padding"] = "x" * (size - len(json.dumps(envelope)))
    return json.dumps(envelope).encode()


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"protocol": "agh-network/v1"}, "$.protocol"),
        ({"protocol": None}, "$.protocol"),
        ({"id": " "}, "$.id"),
        ({"id": 7}, "$.id"),
        ({"kind": None}, "$.kind"),
        ({"channel": "Builders"}, "$.channel"),
        ({"channel": "a" * 65}, "$.channel"),
        ({"from": "no spaces"}, "$.from"),
        ({"to": "No"}, "$.to"),
        ({"ts": 0}, "$.ts"),
        ({"ts": "now"}, "$.ts"),
        ({"ts": 1.5}, "$.ts"),
        ({"ts": True}, "$.ts"),
        ({"body": None}, "$.body"),
        ({"body": []}, "$.body"),
        ({"body": {}}, "$.body.peer_card"),
        ({"ext": []}, "$.ext"),
        ({"proof": "signed"}, "$.proof"),
        ({"expires_at": "never"}, "$.expires_at"),
        ({"workspace_id": "a.b"}, "$.workspace_id"),
        ({"surface": "thread"}, "$.surface"),
        ({"work_id": "work_1"}, "$.work_id"),
    ],
    ids=str,
)
def test_malformed_envelope_is_rejected_with_path(editor_api, members, path):
    assert get_malformed_path(editor_api, build_greet(**members)) == path
    assert count_stored_rows() == 0


@pytest.mark.parametrize(
    "raw",
    [b"", b" ", b"[]", b"null", b"{", b"\xff", b'{"ts": NaN}', b"[" * 100_000],
    ids=["empty", "blank", "list", "null", "unclosed", "latin-1", "nan", "deep"],
)
def test_body_other_than_json_object_is_malformed(editor_api, raw):
    assert get_malformed_path(editor_api, raw) == "$"


@pytest.mark.parametrize("to", ["coder", "agentlens"])
def test_greeting_to_one_peer_is_malformed_t20(editor_api, to):
    send_envelopes(editor_api, build_greet(sender="coder"))

    assert get_malformed_path(editor_api, build_greet(to=to)) == "$.to"


def test_duplicate_member_is_malformed(editor_api):
    raw = json.dumps(build_greet())[:-1].encode() + b', "to": "ops"}'

    get_malformed_path(editor_api, raw)
    assert count_stored_rows() == 0


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"peer_id": "Designer"}, "$.body.peer_card.peer_id"),
        ({"capabilities": None}, "$.body.peer_card.capabilities"),
        ({"capabilities": "all"}, "$.body.peer_card.capabilities"),
        ({"capabilities": [1]}, "$.body.peer_card.capabilities[0]"),
        ({"profiles_supported": None}, "$.body.peer_card.profiles_supported"),
        ({"display_name": 1}, "$.body.peer_card.display_name"),
        ({"ext": []}, "$.body.peer_card.ext"),
    ],
    ids=str,
)
def test_malformed_card_is_rejected_with_path(editor_api, members, path):
    envelope = build_envelope("greet", {"peer_card": build_card() | members})

    assert get_malformed_path(editor_api, envelope) == path
    assert count_stored_rows() == 0


@pytest.mark.parametrize("age", [-300, 290])
def test_timestamp_within_five_minutes_is_accepted(editor_api, age):
    send_envelopes(editor_api, build_greet(ts=int(time.time()) - age))


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"ts": -310}, "$.ts"),
        ({"ts": 310}, "$.ts"),
        ({"ts": 0, "expires_at": -1}, "$.expires_at"),
        ({"ts": 310, "expires_at": 900}, "$.ts"),
    ],
    ids=["old", "future", "expired", "future-but-not-expired"],
)
def test_old_or_future_envelope_is_rejected_as_expired(editor_api, members, path):
    now = int(time.time())
    envelope = build_greet(**{key: now + seconds for key, seconds in members.items()})

    body = assert_rejected(editor_api, envelope, 400, "INVALID_BODY", "expired")
    assert body["details"]["path"] == path
    assert count_stored_rows() == 0


def test_old_envelope_with_future_expires_at_is_accepted(editor_api):
    now = int(time.time())

    send_envelopes(editor_api, build_greet(ts=now - 3600, expires_at=now + 3600))


def test_repeated_envelope_is_rejected_as_duplicate(editor_api):
    envelope = build_greet("build-site")
    send_envelopes(editor_api, envelope)

    body = assert_rejected(editor_api, envelope, 409, "CONFLICT", "duplicate")
    assert body["details"]["path"] == "$.id"


def test_same_id_from_other_sender_or_channel_is_accepted(editor_api):
    envelope = build_greet()
    send_envelopes(editor_api, envelope, build_greet(id=envelope["id"], sender="coder"))
    send_envelopes(editor_api, envelope | {"channel": "testers"})

    assert CatalogEntry.objects.count() == 3


@pytest.mark.parametrize(
    ("build", "status"),
    [
        (lambda: build_whois(to="unknown"), 404),
        (lambda: build_transfer(build_document(digest=WRONG_DIGEST)), 422),
        (lambda: build_greet(kind="sing"), 400),
    ],
    ids=["not_target", "verification_failed", "unsupported_kind"],
)
def test_id_of_rejected_envelope_can_be_reused(editor_api, build, status):
    envelope = build()
    assert post_envelope(editor_api, envelope).status_code == status

    send_envelopes(
        editor_api,
        build_greet(id=envelope["id"], sender=envelope["from"], channel="builders"),
    )


def test_id_of_forbidden_envelope_can_be_reused(viewer_api, editor_api):
    envelope = build_greet()
    post_envelope(viewer_api, envelope)

    send_envelopes(editor_api, envelope)


def test_expired_seen_envelopes_are_deleted(editor_api):
    send_envelopes(editor_api, build_greet())
    delete_expired_envelopes()
    assert SeenEnvelope.objects.count() == 1

    SeenEnvelope.objects.update(until="2020-01-01T00:00:00Z")
    delete_expired_envelopes()
    assert not SeenEnvelope.objects.exists()


def test_seen_envelope_with_far_expires_at_is_kept_for_limited_time(editor_api):
    send_envelopes(editor_api, build_greet(expires_at=2**53 - 1))

    assert SeenEnvelope.objects.get().until.year < 2100


@pytest.mark.parametrize("kind", ["sing", "GREET", "recipe"])
def test_unknown_kind_is_rejected_as_unsupported(editor_api, kind):
    assert_rejected(
        editor_api, build_greet(kind=kind), 400, "INVALID_BODY", "unsupported_kind"
    )


@pytest.mark.parametrize("kind", ["say", "direct", "receipt", "trace"])
def test_unhandled_kinds_are_accepted_and_ignored(viewer_api, kind):
    assert send_envelopes(viewer_api, build_envelope(kind, {"text": "hello"})) == []
    assert not CatalogEntry.objects.exists()


def test_whois_to_unknown_peer_returns_404(viewer_api):
    envelope = build_whois(to="unknown")

    body = assert_rejected(viewer_api, envelope, 404, "PEER_NOT_FOUND", "not_target")
    assert body["details"]["path"] == "$.to"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "$.body.capability"),
        (build_document(), "$.body.capability"),
        ({"capability": {}}, "$.body.capability.id"),
        ({"capability": build_document(digest="")}, "$.body.capability.digest"),
        ({"capability": build_document(outcome=" ")}, "$.body.capability.outcome"),
        (
            {"capability": build_document(requirements=["a", "a"])},
            "$.body.capability.requirements[1]",
        ),
    ],
    ids=[
        "missing",
        "not-nested",
        "empty",
        "no-digest",
        "no-outcome",
        "repeated-requirement",
    ],
)
def test_malformed_document_is_rejected_with_path(editor_api, body, path):
    assert get_malformed_path(editor_api, build_envelope("capability", body)) == path
    assert count_stored_rows() == 0


def test_envelope_over_size_limit_returns_413(editor_api):
    send_envelopes(editor_api, build_padded_greet(SIZE_LIMIT))

    assert_rejected(
        editor_api,
        build_padded_greet(SIZE_LIMIT + 1),
        413,
        "BODY_TOO_LARGE",
        "malformed",
    )


def test_malformed_whois_is_rejected_with_path(editor_api):
    def get_path(body):
        return get_malformed_path(editor_api, build_envelope("whois", body))

    response = build_whois_response(build_card(), reply_to=None)

    assert (
        get_path({"type": "request", "peer_card": build_card()}) == "$.body.peer_card"
    )
    assert get_path({"type": "?"}) == "$.body.type"
    assert get_path({}) == "$.body.type"
    assert get_malformed_path(editor_api, response) == "$.reply_to"


CATALOG_ITEMS_PATH = "$.ext['agh.capability_catalog'].capabilities"


@pytest.mark.parametrize(
    ("build", "expected_path"),
    [
        (
            lambda: build_greet_from_card(build_card(display_name="n" * 301)),
            "$.body.peer_card.display_name",
        ),
        (lambda: build_greet("a", "i" * 501), "$.body.peer_card.capabilities[1]"),
        (lambda: build_transfer(build_document("i" * 501)), "$.body.capability"),
        (
            lambda: build_transfer(build_document(summary="s" * 20_001)),
            "$.body.capability",
        ),
        (
            lambda: build_whois_response(
                build_card(), build_document(), build_document("i" * 501)
            ),
            f"{CATALOG_ITEMS_PATH}[1]",
        ),
    ],
    ids=[
        "greet-display-name",
        "greet-capability-id",
        "transfer-id",
        "transfer-summary",
        "response-id",
    ],
)
@pytest.mark.parametrize("has_greeted", [False, True], ids=["new-peer", "known-peer"])
def test_too_long_text_is_rejected_with_path(
    editor_api, build, expected_path, has_greeted
):
    if has_greeted:
        send_envelopes(editor_api, build_greet())

    assert get_malformed_path(editor_api, build()) == expected_path


def test_throttled_envelope_returns_429_with_reason_busy(editor_api, settings):
    settings.AGENTLENS_WRITE_RATE = 1
    send_envelopes(editor_api, build_greet())
    response = post_envelope(editor_api, build_greet())

    assert response.headers["Retry-After"]
    assert_error_response(response, 429, "RATE_LIMITED")
    assert response.json()["details"]["reason_code"] == "busy"


def test_unknown_or_repeated_query_parameter_returns_400(editor_api):
    raw = json.dumps(build_whois())
    url = f"{ENVELOPES_URL}?channel=builders"
    response = editor_api.generic("POST", url, raw, content_type="application/json")
    assert_error_response(response, 400, "INVALID_PARAMETER")
    for url in (f"{PEERS_URL}/agentlens", f"{PEERS_URL}/agentlens/capabilities/x"):
        for query in ("q=1", "channel=a&channel=b"):
            response = editor_api.get(f"{url}?{query}")
            assert_error_response(response, 400, "INVALID_PARAMETER")


def test_unsupported_method_and_media_type_are_rejected(editor_api):
    assert_error_response(editor_api.get(ENVELOPES_URL), 405, "METHOD_NOT_ALLOWED")
    assert_error_response(
        editor_api.delete(f"{PEERS_URL}/agentlens"), 405, "METHOD_NOT_ALLOWED"
    )
    response = editor_api.generic(
        "POST", ENVELOPES_URL, "{}", content_type="text/plain"
    )
    assert_error_response(response, 415, "UNSUPPORTED_MEDIA_TYPE")


def test_envelopes_of_later_revision_are_accepted(editor_api):
    envelope_members = {
        "workspace_id": "ws_1",
        "interaction_id": "int_1",
        "trace_id": "t",
    }
    conversation_members = {
        "surface": "thread",
        "thread_id": "thread_abc",
        "work_id": "w",
    }
    send_envelopes(editor_api, build_greet("build-site", **envelope_members))
    send_envelopes(
        editor_api,
        build_transfer(build_document(), **envelope_members, **conversation_members),
    )

    assert get_documented_names() == {"build-site"}
    assert get_entry().agent_type.endpoint == "agh://builders/designer"

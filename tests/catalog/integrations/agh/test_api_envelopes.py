"""What is taken at the door for envelopes, and what is refused, and in which words."""

import json
import time

import pytest
from rest_framework.test import APIClient

from catalog.integrations.agh.inbox import delete_expired_envelopes
from catalog.integrations.agh.models import SeenEnvelope
from catalog.models import AgentType, Capability, CatalogEntry
from tests.api_errors import assert_error_response

from .agh import (
    ENVELOPES,
    FALSE_DIGEST,
    LIMIT,
    PEERS,
    capabilities,
    card,
    document,
    entry_of,
    envelope,
    greet,
    greet_with,
    known_in_full,
    malformed_error,
    post,
    refused,
    response,
    send,
    transfer,
    whois,
)

pytestmark = pytest.mark.django_db


def stored() -> int:
    tables = (AgentType, Capability, CatalogEntry, SeenEnvelope)
    return sum(table.objects.count() for table in tables)


def padded(size: int) -> bytes:
    """A greet of just so many bytes."""
    said = greet(padding="")
    said["padding"] = "x" * (size - len(json.dumps(said)))
    return json.dumps(said).encode()


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
def test_a_malformed_envelope_is_refused_at_its_place(editor, members, path):
    assert malformed_error(editor, greet(**members)) == path
    assert stored() == 0


@pytest.mark.parametrize(
    "raw",
    [b"", b" ", b"[]", b"null", b"{", b"\xff", b'{"ts": NaN}', b"[" * 100_000],
    ids=["none", "blank", "list", "null", "open", "latin", "nan", "deep"],
)
def test_what_is_no_json_object_is_malformed(editor, raw):
    assert malformed_error(editor, raw) == "$"


def test_a_member_given_twice_is_malformed(editor):
    raw = json.dumps(greet())[:-1].encode() + b', "to": "ops"}'

    malformed_error(editor, raw)
    assert stored() == 0


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
def test_a_malformed_card_is_refused_at_its_place(editor, members, path):
    said = envelope("greet", {"peer_card": card() | members})

    assert malformed_error(editor, said) == path
    assert stored() == 0


@pytest.mark.parametrize("age", [-300, 290])
def test_clocks_may_differ_by_five_minutes(editor, age):
    send(editor, greet(ts=int(time.time()) - age))


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"ts": -310}, "$.ts"),
        ({"ts": 310}, "$.ts"),
        ({"ts": 0, "expires_at": -1}, "$.expires_at"),
        ({"ts": 310, "expires_at": 900}, "$.ts"),
    ],
    ids=["old", "ahead", "passed", "ahead although it holds"],
)
def test_what_is_out_of_date_or_ahead_is_expired(editor, members, path):
    now = int(time.time())
    said = greet(**{key: now + seconds for key, seconds in members.items()})

    body = refused(editor, said, 400, "INVALID_BODY", "expired")
    assert body["details"]["path"] == path
    assert stored() == 0


def test_an_old_envelope_that_says_it_still_holds_is_taken(editor):
    now = int(time.time())

    send(editor, greet(ts=now - 3600, expires_at=now + 3600))


def test_the_same_envelope_again_is_a_duplicate(editor):
    said = greet("build-site")
    send(editor, said)

    body = refused(editor, said, 409, "CONFLICT", "duplicate")
    assert body["details"]["path"] == "$.id"


def test_an_id_is_taken_by_one_sender_in_one_channel_only(editor):
    said = greet()
    send(editor, said, greet(id=said["id"], sender="coder"))
    send(editor, said | {"channel": "testers"})

    assert CatalogEntry.objects.count() == 3


@pytest.mark.parametrize(
    ("make", "status"),
    [
        (lambda: whois(to="nobody"), 404),
        (lambda: transfer(document(digest=FALSE_DIGEST)), 422),
        (lambda: greet(kind="sing"), 400),
    ],
    ids=["not_target", "verification_failed", "unsupported_kind"],
)
def test_a_refused_attempt_does_not_burn_its_id(editor, make, status):
    first = make()
    assert post(editor, first).status_code == status

    send(editor, greet(id=first["id"], sender=first["from"], channel="builders"))


def test_an_attempt_without_permission_does_not_burn_its_id(viewer, editor):
    said = greet()
    post(viewer, said)

    send(editor, said)


def test_ids_too_old_to_be_taken_again_are_forgotten(editor):
    send(editor, greet())
    delete_expired_envelopes()
    assert SeenEnvelope.objects.count() == 1

    SeenEnvelope.objects.update(until="2020-01-01T00:00:00Z")
    delete_expired_envelopes()
    assert not SeenEnvelope.objects.exists()


def test_an_envelope_that_holds_for_ages_is_not_remembered_for_ages(editor):
    send(editor, greet(expires_at=2**53 - 1))

    assert SeenEnvelope.objects.get().until.year < 2100


@pytest.mark.parametrize("kind", ["sing", "GREET", "recipe"])
def test_an_unknown_kind_is_unsupported(editor, kind):
    refused(editor, greet(kind=kind), 400, "INVALID_BODY", "unsupported_kind")


@pytest.mark.parametrize("kind", ["say", "direct", "receipt", "trace"])
def test_talk_is_taken_and_ignored(viewer, kind):
    assert send(viewer, envelope(kind, {"text": "hello"})) == []
    assert not CatalogEntry.objects.exists()


def test_a_directed_whois_for_a_stranger_has_no_target(viewer):
    said = whois(to="nobody")

    body = refused(viewer, said, 404, "PEER_NOT_FOUND", "not_target")
    assert body["details"]["path"] == "$.to"


@pytest.mark.parametrize(
    "capability",
    [
        document(digest=FALSE_DIGEST),
        document(digest="md5:1"),
        document() | {"outcome": "Another."},
    ],
    ids=["false", "of another form", "of another document"],
)
def test_a_false_digest_fails_verification_and_nothing_is_kept(editor, capability):
    said = transfer(capability)
    body = refused(editor, said, 422, "VERIFICATION_FAILED", "verification_failed")

    assert body["details"]["path"] == "$.body.capability.digest"
    assert stored() == 0


def test_a_false_digest_leaves_what_is_known_as_it_was(editor):
    send(editor, greet("build-site"), transfer(document(version="1")))
    said = transfer(document(version="2", digest=FALSE_DIGEST))
    refused(editor, said, 422, "VERIFICATION_FAILED", "verification_failed")

    assert capabilities()["build-site"]["document"]["version"] == "1"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "$.body.capability"),
        (document(), "$.body.capability"),
        ({"capability": {}}, "$.body.capability.id"),
        ({"capability": document(digest="")}, "$.body.capability.digest"),
        ({"capability": document(outcome=" ")}, "$.body.capability.outcome"),
        (
            {"capability": document(requirements=["a", "a"])},
            "$.body.capability.requirements[1]",
        ),
    ],
    ids=["none", "bare", "empty", "no digest", "no outcome", "twice"],
)
def test_a_malformed_document_is_refused_at_its_place(editor, body, path):
    assert malformed_error(editor, envelope("capability", body)) == path
    assert stored() == 0


def test_an_envelope_of_the_limit_is_taken_and_one_byte_more_is_not(editor):
    send(editor, padded(LIMIT))

    refused(editor, padded(LIMIT + 1), 413, "BODY_TOO_LARGE", "malformed")


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"ext": {"acme": {"API-Key": "x"}}}, "$.ext.acme.API-Key"),
        ({"proof": {"client_secret": "x"}}, "$.proof.client_secret"),
        (
            {"body": {"capability": document(hints=[{"Password": "x"}])}},
            "$.body.capability.hints[0].Password",
        ),
    ],
    ids=["ext", "proof", "body"],
)
def test_what_looks_like_a_secret_is_not_taken(editor, members, path):
    assert malformed_error(editor, transfer(document(), **members)) == path
    assert stored() == 0


def test_an_empty_secret_and_a_hash_of_one_are_harmless(editor):
    send(editor, greet(ext={"token": "", "password_hash": "x", "tokens": 7}))


def test_task_write_is_only_taken_with_a_proof(editor):
    code = (422, "VERIFICATION_FAILED", "verification_failed")
    refused(editor, greet("task.write"), *code)
    refused(editor, greet("task.write", proof={}), *code)
    refused(editor, response(card("task.write")), *code)

    assert stored() == 0
    send(editor, greet("task.write", proof={"sig": "x"}))


def test_one_peer_with_a_privilege_silences_no_other(editor):
    """We have no proof to send along, so it alone goes unanswered for."""
    send(editor, greet("task.write", proof={"sig": "x"}), greet(sender="coder"))

    senders = {answer["from"] for answer in send(editor, whois())}
    assert "coder" in senders


def test_one_card_from_the_other_door_silences_no_peer(editor):
    """Registering knows nothing of proofs; envelopes do."""
    odd = card("task.write", peer_id="odd", channel="builders")
    editor.post("/api/v1/catalog/register", odd, format="json")
    CatalogEntry.objects.update(status="active")
    send(editor, greet())

    senders = {answer["from"] for answer in send(editor, whois())}
    assert "designer" in senders


def test_what_looks_like_a_secret_comes_in_by_no_other_door(editor):
    leaky = card(peer_id="leaky", ext={"acme": [{"token": "x"}]})
    answer = editor.post("/api/v1/catalog/register", leaky, format="json")
    body = assert_error_response(answer, 422, "INVALID_DEFINITION")

    assert body["details"]["errors"][0]["path"] == "$.ext.acme[0].token"
    assert stored() == 0


@pytest.mark.parametrize("make", [greet_with, response])
def test_a_card_is_only_taken_from_its_own_peer(editor, make):
    said = make(card()) | {"from": "somebody-else"}

    assert malformed_error(editor, said) == "$.body.peer_card.peer_id"
    assert stored() == 0


def test_a_whois_is_a_request_without_a_card_or_a_response_to_something(editor):
    asking = {"type": "request", "peer_card": card()}
    assert malformed_error(editor, envelope("whois", asking)) == "$.body.peer_card"
    assert malformed_error(editor, envelope("whois", {"type": "?"})) == "$.body.type"
    assert malformed_error(editor, envelope("whois", {})) == "$.body.type"
    assert malformed_error(editor, response(card(), reply_to=None)) == "$.reply_to"


CATALOG_ITEMS_PATH = "$.ext['agh.capability_catalog'].capabilities"


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda: greet_with(card(display_name="n" * 301)), ".peer_card.display_name"),
        (lambda: greet("a", "i" * 501), ".peer_card.capabilities[1]"),
        (lambda: transfer(document("i" * 501)), ".capability"),
        (lambda: transfer(document(summary="s" * 20_001)), ".capability"),
        (
            lambda: response(card(), document(), document("i" * 501)),
            f"{CATALOG_ITEMS_PATH}[1]",
        ),
    ],
    ids=["greet name", "greet id", "transfer id", "transfer summary", "response id"],
)
@pytest.mark.parametrize("is_known", [False, True], ids=["new", "known"])
def test_what_no_column_has_room_for_is_refused_at_its_place(
    editor, make, path, is_known
):
    if is_known:
        send(editor, greet())
    found = malformed_error(editor, make())

    assert found == (path if path.startswith("$") else f"$.body{path}")


def test_who_sends_too_many_is_told_that_we_are_busy(editor, settings):
    settings.AGENTLENS_WRITE_RATE = 1
    send(editor, greet())
    answer = post(editor, greet())

    assert answer.headers["Retry-After"]
    assert_error_response(answer, 429, "RATE_LIMITED")
    assert answer.json()["details"]["reason_code"] == "busy"


@pytest.mark.parametrize(
    "make",
    [greet, lambda: transfer(document()), lambda: response(card(), document())],
    ids=["greet", "capability", "whois response"],
)
def test_a_viewer_may_ask_but_not_tell(viewer, make):
    assert_error_response(post(viewer, make()), 403, "PERMISSION_DENIED")
    assert stored() == 0
    assert [answer["from"] for answer in send(viewer, whois())] == ["agentlens"]


def test_a_stranger_may_neither_send_nor_read():
    stranger = APIClient()

    assert_error_response(post(stranger, whois()), 401, "NOT_AUTHENTICATED")
    for place in (f"{PEERS}/agentlens", f"{PEERS}/agentlens/capabilities/x"):
        assert_error_response(stranger.get(place), 401, "NOT_AUTHENTICATED")


def test_parameters_nobody_knows_are_refused(editor):
    raw = json.dumps(whois())
    place = f"{ENVELOPES}?channel=builders"
    sent = editor.generic("POST", place, raw, content_type="application/json")
    assert_error_response(sent, 400, "INVALID_PARAMETER")
    for place in (f"{PEERS}/agentlens", f"{PEERS}/agentlens/capabilities/x"):
        for query in ("q=1", "channel=a&channel=b"):
            answer = editor.get(f"{place}?{query}")
            assert_error_response(answer, 400, "INVALID_PARAMETER")


def test_other_methods_and_media_types_are_refused(editor):
    assert_error_response(editor.get(ENVELOPES), 405, "METHOD_NOT_ALLOWED")
    assert_error_response(
        editor.delete(f"{PEERS}/agentlens"), 405, "METHOD_NOT_ALLOWED"
    )
    sent = editor.generic("POST", ENVELOPES, "{}", content_type="text/plain")
    assert_error_response(sent, 415, "UNSUPPORTED_MEDIA_TYPE")


def test_the_later_revision_is_taken_too(editor):
    later = {"workspace_id": "ws_1", "interaction_id": "int_1", "trace_id": "t"}
    conversation = {"surface": "thread", "thread_id": "thread_abc", "work_id": "w"}
    send(editor, greet("build-site", **later))
    send(editor, transfer(document(), **later, **conversation))

    assert known_in_full() == {"build-site"}
    assert entry_of().agent_type.endpoint == "agh://builders/designer"

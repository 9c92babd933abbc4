import json

import pytest

from capabilities.problems import Problems
from capabilities.protocols.agh import envelopes
from capabilities.protocols.agh.bodies import (
    build_greet_body,
    build_transfer_body,
    build_whois_request_body,
    build_whois_response_body,
)
from capabilities.protocols.agh.cards import PeerCard
from capabilities.protocols.agh.envelopes import (
    Envelope,
    EnvelopeHeader,
    MessageKind,
    build_envelope,
)
from capabilities.protocols.agh.errors import (
    EnvelopeError,
    EnvelopeTooLarge,
    ReasonCode,
)
from capabilities.protocols.agh.members import ENVELOPE_BYTES_LIMIT, serialize_json

from .making import (
    NOW,
    accepted,
    card,
    document,
    envelope,
    read_card,
    refused,
    response,
    signed,
    stated,
)

MALFORMED = "malformed"


def without(key, **members):
    return {k: v for k, v in envelope(**members).items() if k != key}


@pytest.mark.parametrize("kind", [kind.value for kind in MessageKind])
def test_every_known_kind_is_valid(kind):
    taken = accepted(envelope(kind))

    assert taken.kind == kind
    assert taken.is_handled is (kind in ("greet", "whois", "capability"))


@pytest.mark.parametrize("kind", ["shout", "GREET", "capabilities", "greet2"])
def test_another_kind_is_unsupported(kind):
    assert refused(envelope(kind)) == ("unsupported_kind", "$.kind")


@pytest.mark.parametrize(
    "key", ["protocol", "id", "kind", "channel", "from", "ts", "body"]
)
@pytest.mark.parametrize("value", ["missing", None, [], ""])
def test_what_is_required_is_required(key, value):
    wanting = without(key) if value == "missing" else envelope() | {key: value}

    assert refused(wanting) == (MALFORMED, f"$.{key}")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("protocol", "agh-network/v1"),
        ("protocol", "AGH-network/v0"),
        ("channel", "Builders"),
        ("channel", "_builders"),
        ("channel", "a.b"),
        ("channel", "a" * 65),
        ("channel", "a\nb"),
        ("from", "Designer"),
        ("from", "-a"),
        ("from", "a" * 129),
        ("from", "a b"),
        ("to", "Someone Else"),
        ("to", 5),
        ("to", {}),
        ("workspace_id", "a.b"),
        ("workspace_id", "a b"),
        ("workspace_id", "a*"),
        ("workspace_id", "a>"),
        ("workspace_id", "a\x7f"),
        ("workspace_id", 1),
        ("ts", 0),
        ("ts", -1),
        ("ts", True),
        ("ts", 1.0),
        ("ts", str(NOW)),
        ("ts", 2**63),
        ("expires_at", "soon"),
        ("expires_at", False),
        ("reply_to", 1),
        ("trace_id", []),
        ("causation_id", {}),
        ("interaction_id", 5),
        ("body", "text"),
        ("body", []),
        ("proof", "signed"),
        ("proof", []),
        ("ext", []),
        ("ext", "x"),
    ],
)
def test_a_member_of_another_form_is_malformed(key, value):
    assert refused(envelope(**{key: value})) == (MALFORMED, f"$.{key}")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("channel", "a" * 64),
        ("channel", "0-_"),
        ("to", "a" * 128),
        ("to", "0._-"),
        ("to", ""),
        ("to", "  "),
        ("id", "any thing / at all"),
        ("workspace_id", "ws_α"),
        ("reply_to", " "),
        ("expires_at", NOW + 1),
        ("interaction_id", "int_1"),
        ("proof", {}),
        ("ext", None),
        ("ext", {}),
    ],
)
def test_other_members_will_do(key, value):
    assert accepted(envelope("whois", **{key: value})).raw[key] == value


def test_identifiers_are_trimmed_and_the_raw_ones_kept():
    taken = accepted(envelope(channel=" builders\n", **{"from": "\u3000designer"}))

    assert (taken.channel, taken.sender) == ("builders", "designer")
    assert taken.to_wire()["channel"] == " builders\n"


def test_nothing_said_about_to_is_everybody():
    assert accepted(without("to")).to == accepted(envelope(to=" ")).to == ""


@pytest.mark.parametrize(
    ("members", "now", "path"),
    [
        ({"ts": NOW}, NOW + 300, ""),
        ({"ts": NOW}, NOW + 301, "$.ts"),
        ({"ts": NOW + 300}, NOW, ""),
        ({"ts": NOW + 301}, NOW, "$.ts"),
        ({"ts": 1, "expires_at": NOW + 1}, NOW, ""),
        ({"ts": NOW, "expires_at": NOW}, NOW, "$.expires_at"),
        ({"ts": NOW, "expires_at": 0}, NOW, "$.expires_at"),
        ({"ts": NOW + 301, "expires_at": NOW + 900}, NOW, "$.ts"),
    ],
)
def test_freshness(members, now, path):
    if path:
        assert refused(envelope(**members), now) == ("expired", path)
    else:
        assert accepted(envelope(**members), now)


CONVERSATION_MEMBERS = {
    "surface": "thread",
    "thread_id": "thread_abc",
    "direct_id": "direct_" + "0" * 32,
    "work_id": "work_1",
}


@pytest.mark.parametrize("key", CONVERSATION_MEMBERS)
@pytest.mark.parametrize("make", [envelope, response])
def test_discovery_has_no_members_of_a_conversation(make, key):
    assert refused(make(**{key: CONVERSATION_MEMBERS[key]})) == (MALFORMED, f"$.{key}")
    assert accepted(make(**{key: None}))


@pytest.mark.parametrize("kind", ["capability", "say", "direct", "receipt", "trace"])
def test_conversations_have_them(kind):
    assert accepted(envelope(kind, **CONVERSATION_MEMBERS)).raw["work_id"] == "work_1"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("surface", 5),
        ("thread_id", "thread_a"),
        ("direct_id", "direct_" + "0" * 31),
        ("direct_id", "direct_" + "A" * 32),
        ("work_id", "a/b"),
        ("work_id", "a" * 129),
    ],
)
def test_and_of_the_right_form(key, value):
    assert refused(envelope("say", **{key: value})) == (MALFORMED, f"$.{key}")


@pytest.mark.parametrize(
    ("make", "body", "place"),
    [
        (envelope, {}, "$.body.peer_card"),
        (envelope, {"peer_card": None}, "$.body.peer_card"),
        (envelope, {"peer_card": card(peer_id="A")}, "$.body.peer_card.peer_id"),
        (envelope, {"peer_card": card(peer_id="other")}, "$.body.peer_card.peer_id"),
        (envelope, {"peer_card": card(ext=[])}, "$.body.peer_card.ext"),
        (envelope, {"peer_card": card(), "summary": 5}, "$.body.summary"),
        (response, {}, "$.body.type"),
        (response, {"type": "answer"}, "$.body.type"),
        (response, {"type": 5}, "$.body.type"),
        (response, {"type": "request", "query": 5}, "$.body.query"),
        (
            response,
            {"type": "request", "peer_card": card()},
            "$.body.peer_card",
        ),
        (response, {"type": "response"}, "$.body.peer_card"),
        (
            response,
            {"type": "response", "peer_card": card(peer_id="other")},
            "$.body.peer_card.peer_id",
        ),
    ],
)
def test_a_body_of_another_shape_is_malformed(make, body, place):
    assert refused(make(body=body)) == (MALFORMED, place)


@pytest.mark.parametrize(
    ("body", "reason", "place"),
    [
        ({}, MALFORMED, "$.body.capability"),
        (signed(), MALFORMED, "$.body.capability"),
        ({"capability": []}, MALFORMED, "$.body.capability"),
        ({"capability": stated()}, MALFORMED, "$.body.capability.digest"),
        (
            {"capability": signed() | {"outcome": " "}},
            MALFORMED,
            "$.body.capability.outcome",
        ),
        (
            {"capability": signed() | {"outcome": "Another."}},
            "verification_failed",
            "$.body.capability.digest",
        ),
        (
            {"capability": stated(digest="sha256:whatever")},
            "verification_failed",
            "$.body.capability.digest",
        ),
    ],
)
def test_a_transfer_is_wrapped_whole_and_verified(body, reason, place):
    assert refused(envelope("capability", body=body)) == (reason, place)


def test_a_whois_response_names_its_request():
    assert refused(response(reply_to=None)) == (MALFORMED, "$.reply_to")
    assert accepted(response()).is_response


def test_a_request_has_a_query_or_asks_for_everybody():
    asked = accepted(envelope("whois", body={"type": "request", "query": " x "}))
    unasked = accepted(envelope("whois", body={"type": "request"}))

    assert (asked.query, unasked.query) == ("x", "")
    assert asked.is_request
    assert not asked.is_response
    assert accepted(envelope()).query == ""


@pytest.mark.parametrize("make", [envelope, response])
@pytest.mark.parametrize("proof", [None, {}])
def test_task_write_needs_a_proof(make, proof):
    claiming = card(capabilities=["x", " task.write "])
    body = {"type": "response", "peer_card": claiming}
    place = "$.body.peer_card.capabilities"

    assert refused(make(body=body, proof=proof)) == ("verification_failed", place)
    assert accepted(make(body=body, proof={"profile": "p"})).card


@pytest.mark.parametrize(
    "key",
    [
        *("token", "Token", "access_token", "API-Key", "apiKey", "client.secret"),
        *("password", "Authorization", "secret", "refresh_token", " token "),
    ],
)
@pytest.mark.parametrize("where", ["body", "proof", "ext"])
def test_what_looks_like_a_secret_is_malformed(where, key):
    reason, path = refused(envelope("say", **{where: {"deep": [{key: "x"}]}}))

    assert (reason, path.startswith(f"$.{where}.deep[0]")) == (MALFORMED, True)


@pytest.mark.parametrize("value", ["x", 0, False, ["x"], {"x": ""}])
def test_any_value_of_a_secret_counts(value):
    assert refused(envelope(ext={"token": value})) == (MALFORMED, "$.ext.token")


@pytest.mark.parametrize("value", ["", "  ", None, [], {}])
def test_an_empty_secret_is_none(value):
    assert accepted(envelope(ext={"token": value}))


@pytest.mark.parametrize("key", ["token_hash", "tokens", "acme.token", "passwords"])
def test_other_keys_are_no_secrets(key):
    assert accepted(envelope(ext={key: "x"}))


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        # Each fault with one that a later step would find.
        ({"kind": "shout", "channel": "A"}, "unsupported_kind"),
        ({"channel": "A", "ts": 1}, MALFORMED),
        ({"ts": 1, "surface": "x"}, "expired"),
        ({"surface": "x", "body": {}}, MALFORMED),
    ],
)
def test_the_order_of_the_checks(members, reason):
    assert refused(envelope(**members))[0] == reason


def test_surface_comes_before_body_and_body_before_secrets():
    assert refused(envelope(surface="x", body={}))[1] == "$.surface"
    assert refused(envelope(body={"token": "x"}))[1] == "$.body.peer_card"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b'{"ts": NaN}',
        b'{"ts": 1e999}',
        b'{"id": "\\u0000"}',
        b'{"id": "\\ud800"}',
        b"{} {}",
        b'{"a":' * 70 + b"1" + b"}" * 70,
        b"[" * 100_000,
        b'{"ts": ' + b"1" * 5_000 + b"}",
    ],
    ids=range(13),
)
def test_bytes_that_are_no_strict_json_are_malformed(raw):
    assert refused(raw)[0] == MALFORMED


def test_a_member_given_twice_is_malformed():
    text = json.dumps(envelope())[:-1] + ', "ext": {"a": 1, "a": 2}}'

    assert refused(text.encode()) == (MALFORMED, "$")


@pytest.mark.parametrize("value", [float("nan"), b"x", {1, 2}, "\ud800"])
def test_an_object_that_is_no_json_is_malformed(value):
    assert refused(envelope(ext={"x": value}))[0] == MALFORMED


def nested(depth):
    return {"x": nested(depth - 1)} if depth else 1


def test_an_object_has_a_depth_too():
    assert accepted(envelope(ext=nested(62)))
    assert refused(envelope(ext=nested(100)))[0] == MALFORMED


def filled(size):
    """An envelope of so many bytes."""
    bare = envelope(ext={"x": ""})
    return envelope(ext={"x": "y" * (size - len(serialize_json(bare)))})


@pytest.mark.parametrize("form", [serialize_json, dict])
def test_exactly_the_limit_is_allowed_and_one_more_is_not(form):
    assert accepted(form(filled(ENVELOPE_BYTES_LIMIT)))
    with pytest.raises(EnvelopeTooLarge) as caught:
        accepted(form(filled(ENVELOPE_BYTES_LIMIT + 1)))
    assert caught.value.reason_code == ReasonCode.MALFORMED


def test_size_is_counted_in_bytes():
    assert refused(envelope(ext={"x": "é" * 600_000}))[0] == MALFORMED


def test_a_refusal_says_what_and_where():
    with pytest.raises(
        EnvelopeError, match=r"^\$\.ts must be Unix seconds above zero$"
    ):
        accepted(envelope(ts=0))


HEADING = EnvelopeHeader(channel="builders", sender="designer")


def test_an_outgoing_envelope_has_the_form_of_the_seed():
    sent = build_envelope(
        MessageKind.GREET, HEADING, build_greet_body(read_card(), "Hi"), NOW
    )

    assert list(sent.raw) == [
        *("protocol", "id", "kind", "channel", "from", "to", "ts", "body", "proof")
    ]
    assert sent.raw["proof"] is sent.raw["to"] is None
    assert sent.raw["body"] == {"peer_card": card(), "summary": "Hi"}
    assert sent.id.startswith("msg_")
    assert sent.id != EnvelopeHeader(channel="a", sender="b").id


@pytest.mark.parametrize("workspace_id", ["", "ws_alpha"])
def test_an_answer_goes_back_and_names_the_workspace_if_the_peer_did(workspace_id):
    members = {"workspace_id": workspace_id} if workspace_id else {}
    request = accepted(envelope("whois", **members))
    heading = EnvelopeHeader.for_reply(request, "agentlens")

    sent = build_envelope(
        MessageKind.WHOIS,
        heading,
        build_whois_response_body(read_card(peer_id="agentlens")),
        NOW,
    )

    assert (sent.to, sent.reply_to, sent.channel) == ("designer", "msg_1", "builders")
    assert ("workspace_id" in sent.raw) is bool(workspace_id)
    assert sent.workspace_id == workspace_id
    assert accepted(serialize_json(sent.raw)) == sent


def test_a_transfer_is_emitted_and_taken():
    sent = build_envelope(
        MessageKind.CAPABILITY, HEADING, build_transfer_body(document()), NOW
    )

    assert accepted(serialize_json(sent.raw)).document == sent.document
    assert sent.document.is_verified


def test_a_request_is_emitted_with_its_ext():
    sent = build_envelope(
        MessageKind.WHOIS,
        HEADING,
        build_whois_request_body("x"),
        NOW,
        {"agh.include": []},
    )

    assert sent.raw["ext"] == {"agh.include": []}
    assert sent.query == "x"


def test_nothing_too_large_is_emitted():
    ext = {"agh.capability_catalog": {"capabilities": [signed(summary="x" * 2**20)]}}
    with pytest.raises(EnvelopeTooLarge):
        build_envelope(MessageKind.WHOIS, HEADING, build_whois_request_body(), NOW, ext)


def test_nothing_invalid_is_emitted():
    other = PeerCard.parse(card(peer_id="other"), Problems())
    with pytest.raises(EnvelopeError):
        build_envelope(MessageKind.GREET, HEADING, build_greet_body(other), NOW)


def test_the_codes_are_those_of_both_revisions():
    assert {"interaction_closed", "work_closed", "duplicate"} < set(ReasonCode)
    assert len(ReasonCode) == 16


def test_both_sides_of_the_module_agree_on_the_kinds():
    assert {kind.value for kind in envelopes.HANDLED_KINDS} == {
        "greet",
        "whois",
        "capability",
    }
    assert Envelope.parse(envelope("trace"), NOW).card is None

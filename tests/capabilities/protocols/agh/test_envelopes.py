import json

import pytest

from capabilities.protocols.agh import envelopes
from capabilities.protocols.agh.envelopes import (
    Envelope,
    MessageKind,
)
from capabilities.protocols.agh.errors import (
    EnvelopeError,
    EnvelopeTooLarge,
    ReasonCode,
)
from capabilities.protocols.agh.members import ENVELOPE_BYTES_LIMIT, dump_compact_json

from .messages import (
    NOW,
    build_card,
    build_nested_object,
    build_raw_document,
    build_received_envelope,
    build_response,
    build_verified_document,
    get_parse_error,
    parse_envelope,
)

MALFORMED = "malformed"


def omit_member(key, **members):
    return {k: v for k, v in build_received_envelope(**members).items() if k != key}


@pytest.mark.parametrize("kind", [kind.value for kind in MessageKind])
def test_every_known_kind_is_valid(kind):
    parsed = parse_envelope(build_received_envelope(kind))

    assert parsed.kind == kind
    assert parsed.is_handled is (kind in ("greet", "whois", "capability"))


@pytest.mark.parametrize("kind", ["shout", "GREET", "capabilities", "greet2"])
def test_unknown_kind_is_unsupported(kind):
    assert get_parse_error(build_received_envelope(kind)) == (
        "unsupported_kind",
        "$.kind",
    )


@pytest.mark.parametrize(
    "key", ["protocol", "id", "kind", "channel", "from", "ts", "body"]
)
@pytest.mark.parametrize("value", ["missing", None, [], ""])
def test_missing_required_member_is_malformed(key, value):
    invalid = (
        omit_member(key)
        if value == "missing"
        else build_received_envelope() | {key: value}
    )

    assert get_parse_error(invalid) == (MALFORMED, f"$.{key}")


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
def test_invalid_member_is_malformed(key, value):
    assert get_parse_error(build_received_envelope(**{key: value})) == (
        MALFORMED,
        f"$.{key}",
    )


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
def test_valid_member_is_accepted(key, value):
    assert (
        parse_envelope(build_received_envelope("whois", **{key: value})).raw[key]
        == value
    )


def test_identifiers_are_trimmed_but_raw_is_unchanged():
    parsed = parse_envelope(
        build_received_envelope(channel=" builders\n", **{"from": "\u3000designer"})
    )

    assert (parsed.channel, parsed.sender) == ("builders", "designer")
    assert parsed.to_wire()["channel"] == " builders\n"


def test_envelope_with_missing_or_blank_recipient_is_a_broadcast():
    assert (
        parse_envelope(omit_member("to")).to
        == parse_envelope(build_received_envelope(to=" ")).to
        == ""
    )


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
def test_old_future_or_expired_envelope_is_rejected(members, now, path):
    if path:
        assert get_parse_error(build_received_envelope(**members), now) == (
            "expired",
            path,
        )
    else:
        assert parse_envelope(build_received_envelope(**members), now)


CONVERSATION_MEMBERS = {
    "surface": "thread",
    "thread_id": "thread_abc",
    "direct_id": "direct_" + "0" * 32,
    "work_id": "work_1",
}


@pytest.mark.parametrize("key", CONVERSATION_MEMBERS)
@pytest.mark.parametrize("build_message", [build_received_envelope, build_response])
def test_discovery_message_with_conversation_member_is_malformed(build_message, key):
    assert get_parse_error(build_message(**{key: CONVERSATION_MEMBERS[key]})) == (
        MALFORMED,
        f"$.{key}",
    )
    assert parse_envelope(build_message(**{key: None}))


@pytest.mark.parametrize("kind", ["capability", "say", "direct", "receipt", "trace"])
def test_conversation_members_are_accepted_in_conversations(kind):
    assert (
        parse_envelope(build_received_envelope(kind, **CONVERSATION_MEMBERS)).raw[
            "work_id"
        ]
        == "work_1"
    )


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
def test_invalid_conversation_member_is_malformed(key, value):
    assert get_parse_error(build_received_envelope("say", **{key: value})) == (
        MALFORMED,
        f"$.{key}",
    )


@pytest.mark.parametrize(
    ("build_message", "body", "path"),
    [
        (build_received_envelope, {}, "$.body.peer_card"),
        (build_received_envelope, {"peer_card": None}, "$.body.peer_card"),
        (
            build_received_envelope,
            {"peer_card": build_card(peer_id="A")},
            "$.body.peer_card.peer_id",
        ),
        (
            build_received_envelope,
            {"peer_card": build_card(peer_id="other")},
            "$.body.peer_card.peer_id",
        ),
        (
            build_received_envelope,
            {"peer_card": build_card(ext=[])},
            "$.body.peer_card.ext",
        ),
        (
            build_received_envelope,
            {"peer_card": build_card(), "summary": 5},
            "$.body.summary",
        ),
        (build_response, {}, "$.body.type"),
        (build_response, {"type": "answer"}, "$.body.type"),
        (build_response, {"type": 5}, "$.body.type"),
        (build_response, {"type": "request", "query": 5}, "$.body.query"),
        (
            build_response,
            {"type": "request", "peer_card": build_card()},
            "$.body.peer_card",
        ),
        (build_response, {"type": "response"}, "$.body.peer_card"),
        (
            build_response,
            {"type": "response", "peer_card": build_card(peer_id="other")},
            "$.body.peer_card.peer_id",
        ),
    ],
)
def test_invalid_body_is_malformed(build_message, body, path):
    assert get_parse_error(build_message(body=body)) == (MALFORMED, path)


@pytest.mark.parametrize(
    ("body", "reason", "path"),
    [
        ({}, MALFORMED, "$.body.capability"),
        (build_verified_document(), MALFORMED, "$.body.capability"),
        ({"capability": []}, MALFORMED, "$.body.capability"),
        ({"capability": build_raw_document()}, MALFORMED, "$.body.capability.digest"),
        (
            {"capability": build_verified_document() | {"outcome": " "}},
            MALFORMED,
            "$.body.capability.outcome",
        ),
        (
            {"capability": build_verified_document() | {"outcome": "Another."}},
            "verification_failed",
            "$.body.capability.digest",
        ),
        (
            {"capability": build_raw_document(digest="sha256:whatever")},
            "verification_failed",
            "$.body.capability.digest",
        ),
    ],
)
def test_invalid_transfer_is_rejected(body, reason, path):
    assert get_parse_error(build_received_envelope("capability", body=body)) == (
        reason,
        path,
    )


def test_whois_response_requires_reply_to():
    assert get_parse_error(build_response(reply_to=None)) == (MALFORMED, "$.reply_to")
    assert parse_envelope(build_response()).is_whois_response


def test_whois_query_is_trimmed_and_optional():
    request = parse_envelope(
        build_received_envelope("whois", body={"type": "request", "query": " x "})
    )
    broadcast = parse_envelope(
        build_received_envelope("whois", body={"type": "request"})
    )

    assert (request.query, broadcast.query) == ("x", "")
    assert request.is_whois_request
    assert not request.is_whois_response
    assert parse_envelope(build_received_envelope()).query == ""


@pytest.mark.parametrize("build_message", [build_received_envelope, build_response])
@pytest.mark.parametrize("proof", [None, {}])
def test_task_write_capability_requires_a_proof(build_message, proof):
    peer_card = build_card(capabilities=["x", " task.write "])
    body = {"type": "response", "peer_card": peer_card}
    path = "$.body.peer_card.capabilities"

    assert get_parse_error(build_message(body=body, proof=proof)) == (
        "verification_failed",
        path,
    )
    assert parse_envelope(build_message(body=body, proof={"profile": "p"})).card


@pytest.mark.parametrize(
    "key",
    [
        *("token", "Token", "access_token", "API-Key", "apiKey", "client.secret"),
        *("password", "Authorization", "secret", "refresh_token", " token "),
    ],
)
@pytest.mark.parametrize("member", ["body", "proof", "ext"])
def test_secret_key_is_malformed(member, key):
    reason, path = get_parse_error(
        build_received_envelope("say", **{member: {"deep": [{key: "x"}]}})
    )

    assert (reason, path.startswith(f"$.{member}.deep[0]")) == (MALFORMED, True)


@pytest.mark.parametrize("value", ["x", 0, False, ["x"], {"x": ""}])
def test_secret_with_any_value_is_malformed(value):
    assert get_parse_error(build_received_envelope(ext={"token": value})) == (
        MALFORMED,
        "$.ext.token",
    )


@pytest.mark.parametrize("value", ["", "  ", None, [], {}])
def test_empty_secret_is_accepted(value):
    assert parse_envelope(build_received_envelope(ext={"token": value}))


@pytest.mark.parametrize("key", ["token_hash", "tokens", "acme.token", "passwords"])
def test_other_keys_are_not_secrets(key):
    assert parse_envelope(build_received_envelope(ext={key: "x"}))


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        # Each has two errors; the one checked first is reported.
        ({"kind": "shout", "channel": "A"}, "unsupported_kind"),
        ({"channel": "A", "ts": 1}, MALFORMED),
        ({"ts": 1, "surface": "x"}, "expired"),
        ({"surface": "x", "body": {}}, MALFORMED),
    ],
)
def test_first_failed_check_determines_the_reason_code(members, reason):
    assert get_parse_error(build_received_envelope(**members))[0] == reason


def test_surface_is_checked_before_body_and_body_before_secrets():
    assert (
        get_parse_error(build_received_envelope(surface="x", body={}))[1] == "$.surface"
    )
    assert (
        get_parse_error(build_received_envelope(body={"token": "x"}))[1]
        == "$.body.peer_card"
    )


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
def test_bytes_that_are_not_strict_json_are_malformed(raw):
    assert get_parse_error(raw)[0] == MALFORMED


def test_repeated_member_is_malformed():
    text = json.dumps(build_received_envelope())[:-1] + ', "ext": {"a": 1, "a": 2}}'

    assert get_parse_error(text.encode()) == (MALFORMED, "$")


@pytest.mark.parametrize("value", [float("nan"), b"x", {1, 2}, "\ud800"])
def test_object_that_is_not_json_is_malformed(value):
    assert get_parse_error(build_received_envelope(ext={"x": value}))[0] == MALFORMED


def test_object_nested_too_deeply_is_malformed():
    assert parse_envelope(build_received_envelope(ext=build_nested_object(62)))
    assert (
        get_parse_error(build_received_envelope(ext=build_nested_object(100)))[0]
        == MALFORMED
    )


def build_envelope_of_size(size):
    """Return an envelope of `size` bytes."""
    empty = build_received_envelope(ext={"x": ""})
    return build_received_envelope(
        ext={"x": "y" * (size - len(dump_compact_json(empty)))}
    )


@pytest.mark.parametrize("encode", [dump_compact_json, dict])
def test_size_limit_is_inclusive(encode):
    assert parse_envelope(encode(build_envelope_of_size(ENVELOPE_BYTES_LIMIT)))
    with pytest.raises(EnvelopeTooLarge) as caught:
        parse_envelope(encode(build_envelope_of_size(ENVELOPE_BYTES_LIMIT + 1)))
    assert caught.value.reason_code == ReasonCode.MALFORMED


def test_size_is_counted_in_bytes():
    assert (
        get_parse_error(build_received_envelope(ext={"x": "é" * 600_000}))[0]
        == MALFORMED
    )


def test_error_message_has_path_and_reason():
    with pytest.raises(
        EnvelopeError, match=r"^\$\.ts must be a Unix timestamp greater than zero$"
    ):
        parse_envelope(build_received_envelope(ts=0))


def test_reason_codes_cover_both_revisions():
    assert {"interaction_closed", "work_closed", "duplicate"} < set(ReasonCode)
    assert len(ReasonCode) == 16


def test_handled_kinds_are_greet_whois_and_capability():
    assert {kind.value for kind in envelopes.HANDLED_MESSAGE_KINDS} == {
        "greet",
        "whois",
        "capability",
    }
    assert Envelope.parse(build_received_envelope("trace"), NOW).card is None

"""Whatever comes in is accepted, or refused with a reason; nothing else happens."""

import json
from random import Random

import pytest

from capabilities.protocols.agh.catalogs import read_catalog
from capabilities.protocols.agh.envelopes import Envelope
from capabilities.protocols.agh.errors import EnvelopeError, ReasonCode

from .making import NOW, card, envelope, response, sample, signed

VALID = [
    envelope(),
    envelope("whois", to="x", ext={"agh.include": ["capability_catalog"]}),
    envelope("capability", interaction_id="int_1"),
    envelope("say", surface="thread", thread_id="thread_abc", work_id="work_1"),
    response(workspace_id="ws", expires_at=NOW + 1, proof={"a": {"b": [1]}}),
    sample("whois_request"),
    sample("whois_response"),
]
ODD = [
    *(None, True, False, 0, -1, 1.5, 2**63, 10**400, 1e300, "", " ", "a", "A"),
    *("\ud800", "\0", "\u3000", "x" * 200, [], {}, [None], [[]], {"a": None}),
    *([1, "a"], {"token": "x"}, {"": {"": []}}, NOW, float("nan")),
    *(card(), signed(), [signed()], envelope(), "greet", "agh-network/v0"),
]
TOKENS = [
    *(b"null", b"{}", b"[]", b'"', b",", b":", b"}", b"{", b"\\u0000", b"\\ud83d"),
    *(b"NaN", b"-", b"1e999", b"\xff", b"\xef\xbb\xbf", b"0", b"\\", b" ", b"\n"),
    *(b'"id":', b'"body":{', b"[" * 70, b"\x00", b'"token":"x",', b"9" * 5000),
]
KEYS = [
    *("protocol", "id", "kind", "channel", "from", "to", "ts", "body", "ext"),
    *("proof", "reply_to", "expires_at", "workspace_id", "surface", "thread_id"),
    *("peer_card", "capability", "type", "query", "digest", "capabilities", ""),
]
TEXTS = [json.dumps(each).encode() for each in VALID]


def mutated_bytes(chance):
    """A valid text in which some bytes were cut, doubled or replaced."""
    text = chance.choice(TEXTS)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice((0, 1, 1, 4, 40)))
        new = chance.choice(
            (b"", text[start:end] * 2, chance.choice(TOKENS), chance.randbytes(1))
        )
        text = text[:start] + new + text[end:]
    return text


def mutated_object(chance):
    """A valid object in which some value, however deep, is another."""
    found = json.loads(chance.choice(TEXTS))
    for _ in range(chance.choice((1, 1, 2))):
        inside = found
        while True:
            key = chance.choice(list(inside) or KEYS)
            deeper = inside.get(key)
            if not isinstance(deeper, dict) or chance.random() < 0.3:
                break
            inside = deeper
        if chance.random() < 0.2:
            inside.pop(key, None)
        elif chance.random() < 0.2:
            inside[chance.choice(KEYS)] = chance.choice(ODD)
        else:
            inside[key] = chance.choice(ODD)
    return found


def outcome(received):
    """What became of it: nothing but a Refusal is caught."""
    try:
        taken = Envelope.parse(received, NOW)
        if taken.is_response:
            read_catalog(taken.ext)
    except EnvelopeError as refusal:
        return refusal.reason_code, refusal.path[:1], bool(refusal.message)
    sent = json.loads(received) if isinstance(received, bytes) else received
    return "accepted", "$", taken.to_wire() == sent


def fuzz(count, seed):
    """The outcomes of so many inputs, half of them bytes."""
    chance = Random(seed)
    makers = (mutated_bytes, mutated_object)
    return {outcome(makers[n % 2](chance)) for n in range(count)}


EVERY_OUTCOME = {
    (each, "$", True)
    for each in (
        "accepted",
        ReasonCode.MALFORMED,
        ReasonCode.EXPIRED,
        ReasonCode.UNSUPPORTED_KIND,
        ReasonCode.VERIFICATION_FAILED,
    )
}


def test_two_thousand_inputs():
    assert fuzz(2_000, seed=1) == EVERY_OUTCOME


@pytest.mark.slow
def test_a_hundred_thousand_inputs():
    assert fuzz(100_000, seed=2) == EVERY_OUTCOME

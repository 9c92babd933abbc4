"""Tests that any input is either parsed or refused with a reason."""

import json
from random import Random

import pytest

from capabilities.protocols.agh.catalogs import read_catalog
from capabilities.protocols.agh.envelopes import Envelope
from capabilities.protocols.agh.errors import EnvelopeError, ReasonCode

from .messages import (
    NOW,
    build_card,
    build_received_envelope,
    build_response,
    build_verified_document,
    load_sample,
)

VALID = [
    build_received_envelope(),
    build_received_envelope(
        "whois", to="x", ext={"agh.include": ["capability_catalog"]}
    ),
    build_received_envelope("capability", interaction_id="int_1"),
    build_received_envelope(
        "say", surface="thread", thread_id="thread_abc", work_id="work_1"
    ),
    build_response(workspace_id="ws", expires_at=NOW + 1, proof={"a": {"b": [1]}}),
    load_sample("whois_request"),
    load_sample("whois_response"),
]
REPLACEMENTS = [
    *(None, True, False, 0, -1, 1.5, 2**63, 10**400, 1e300, "", " ", "a", "A"),
    *("\ud800", "\0", "\u3000", "x" * 200, [], {}, [None], [[]], {"a": None}),
    *([1, "a"], {"token": "x"}, {"": {"": []}}, NOW, float("nan")),
    *(
        build_card(),
        build_verified_document(),
        [build_verified_document()],
        build_received_envelope(),
        "greet",
        "agh-network/v0",
    ),
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
VALID_TEXTS = [json.dumps(envelope).encode() for envelope in VALID]


def mutate_bytes(random):
    """Return a valid text with some bytes cut, doubled or replaced."""
    text = random.choice(VALID_TEXTS)
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        start = random.randrange(len(text) + 1)
        end = min(len(text), start + random.choice((0, 1, 1, 4, 40)))
        new = random.choice(
            (b"", text[start:end] * 2, random.choice(TOKENS), random.randbytes(1))
        )
        text = text[:start] + new + text[end:]
    return text


def mutate_object(random):
    """Return a valid object with some value, at any depth, replaced or removed."""
    mutated = json.loads(random.choice(VALID_TEXTS))
    for _ in range(random.choice((1, 1, 2))):
        parent = mutated
        while True:
            key = random.choice(list(parent) or KEYS)
            child = parent.get(key)
            if not isinstance(child, dict) or random.random() < 0.3:
                break
            parent = child
        if random.random() < 0.2:
            parent.pop(key, None)
        elif random.random() < 0.2:
            parent[random.choice(KEYS)] = random.choice(REPLACEMENTS)
        else:
            parent[key] = random.choice(REPLACEMENTS)
    return mutated


def get_outcome(received):
    """Parse an input and return its outcome; only EnvelopeError is caught."""
    try:
        envelope = Envelope.parse(received, NOW)
        if envelope.is_whois_response:
            read_catalog(envelope.ext)
    except EnvelopeError as error:
        return error.reason_code, error.path[:1], bool(error.message)
    sent = json.loads(received) if isinstance(received, bytes) else received
    return "accepted", "$", envelope.to_wire() == sent


def collect_outcomes(count, seed):
    """Return the outcomes of `count` inputs, half of them bytes."""
    random = Random(seed)
    mutators = (mutate_bytes, mutate_object)
    return {get_outcome(mutators[n % 2](random)) for n in range(count)}


ALL_OUTCOMES = {
    (result, "$", True)
    for result in (
        "accepted",
        ReasonCode.MALFORMED,
        ReasonCode.EXPIRED,
        ReasonCode.UNSUPPORTED_KIND,
        ReasonCode.VERIFICATION_FAILED,
    )
}


def test_two_thousand_mutated_inputs_have_only_known_outcomes():
    assert collect_outcomes(2_000, seed=1) == ALL_OUTCOMES


@pytest.mark.slow
def test_hundred_thousand_mutated_inputs_have_only_known_outcomes():
    assert collect_outcomes(100_000, seed=2) == ALL_OUTCOMES

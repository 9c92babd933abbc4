"""Helpers that build and parse AGH documents, cards and envelopes."""

from functools import partial
from pathlib import Path

import pytest

from capabilities.problems import Problems
from capabilities.protocols.agh.cards import PeerCard
from capabilities.protocols.agh.documents import CapabilityDocument
from capabilities.protocols.agh.envelopes import Envelope
from capabilities.protocols.agh.errors import EnvelopeError
from tests.capabilities.protocols.samples import load_json_sample

ROOT = Path(__file__).parents[4]
DATA = ROOT / "tests/data/agh"
NOW = 1_776_366_061
PLACEHOLDER = "sha256:4ac7c4d8f64f35672e0e46ae7b8cfb2fd8d8a48fd6a0f4f37ab89f4459ef560f"


load_sample = partial(load_json_sample, "agh")


def build_raw_document(**members):
    """Return a minimal capability document without a digest."""
    return {"id": "a", "summary": "Does a.", "outcome": "A is done.", **members}


def build_document(**members):
    return CapabilityDocument.parse(build_raw_document(**members), Problems())


def build_verified_document(**members):
    """Return a capability document with its digest."""
    return build_raw_document(
        **members, digest=build_document(**members).compute_digest()
    )


def build_card(**members):
    return {
        "peer_id": "designer",
        "profiles_supported": ["agh-network/v0"],
        "capabilities": [],
        "artifacts_supported": ["capability"],
        "trust_modes_supported": ["unverified"],
        **members,
    }


def parse_card(**members):
    return PeerCard.parse(build_card(**members), Problems())


def build_received_envelope(kind="greet", **members):
    """Return a valid envelope of the kind; `members` replace or add to its members."""
    bodies = {
        "greet": {"peer_card": build_card()},
        "whois": {"type": "request", "query": ""},
        "capability": {"capability": build_verified_document()},
    }
    return {
        "protocol": "agh-network/v0",
        "id": "msg_1",
        "kind": kind,
        "channel": "builders",
        "from": "designer",
        "to": None,
        "ts": NOW,
        "body": bodies.get(kind, {"text": "hello"}),
        "proof": None,
        **members,
    }


def build_response(**members):
    body = {"type": "response", "peer_card": build_card()}
    return build_received_envelope(
        "whois", **{"reply_to": "msg_0", "body": body} | members
    )


def parse_envelope(received, now=NOW):
    return Envelope.parse(received, now)


def get_parse_error(received, now=NOW):
    """Return reason code and path of the error that parsing must raise."""
    with pytest.raises(EnvelopeError) as caught:
        Envelope.parse(received, now)
    return str(caught.value.reason_code), caught.value.path


def get_paths(problems):
    return [problem.path for problem in problems]


def build_nested_object(depth):
    """Return an object with this number of nested objects."""
    return {"x": build_nested_object(depth - 1)} if depth else 1

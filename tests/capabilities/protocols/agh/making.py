"""Valid AGH things by default, and shorthands for what reading them brings."""

import json
from pathlib import Path

import pytest

from capabilities.problems import Problems
from capabilities.protocols.agh.cards import PeerCard
from capabilities.protocols.agh.documents import CapabilityDocument
from capabilities.protocols.agh.envelopes import Envelope
from capabilities.protocols.agh.errors import EnvelopeError

ROOT = Path(__file__).parents[4]
DATA = ROOT / "tests/data/agh"
NOW = 1_776_366_061
PLACEHOLDER = "sha256:4ac7c4d8f64f35672e0e46ae7b8cfb2fd8d8a48fd6a0f4f37ab89f4459ef560f"


def sample(name):
    return json.loads((DATA / f"{name}.json").read_text())


def stated(**members):
    """A capability document of the fewest words."""
    return {"id": "a", "summary": "Does a.", "outcome": "A is done.", **members}


def document(**members):
    return CapabilityDocument.parse(stated(**members), Problems())


def signed(**members):
    """A document with the digest that is its own."""
    return stated(**members, digest=document(**members).compute_digest())


def card(**members):
    return {
        "peer_id": "designer",
        "profiles_supported": ["agh-network/v0"],
        "capabilities": [],
        "artifacts_supported": ["capability"],
        "trust_modes_supported": ["unverified"],
        **members,
    }


def read_card(**members):
    return PeerCard.parse(card(**members), Problems())


def envelope(kind="greet", **members):
    """A valid envelope of the kind, unless the members say otherwise."""
    bodies = {
        "greet": {"peer_card": card()},
        "whois": {"type": "request", "query": ""},
        "capability": {"capability": signed()},
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


def response(**members):
    body = {"type": "response", "peer_card": card()}
    return envelope("whois", **{"reply_to": "msg_0", "body": body} | members)


def accepted(received, now=NOW):
    return Envelope.parse(received, now)


def refused(received, now=NOW):
    """The reason and the place of the refusal that there must be."""
    with pytest.raises(EnvelopeError) as caught:
        Envelope.parse(received, now)
    return str(caught.value.reason_code), caught.value.path


def paths(found):
    return [problem.path for problem in found]

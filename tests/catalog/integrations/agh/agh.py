"""Peers, documents and envelopes as AGH has them; each valid, said, or refused."""

import json
import time
from uuid import uuid4

from capabilities.problems import Problems
from capabilities.protocols.agh.documents import CapabilityDocument
from capabilities.protocols.agh.identifiers import build_endpoint
from catalog.models import CatalogEntry, compute_agent_key
from tests.api_errors import assert_error_response

ENVELOPES = "/api/v1/agh/envelopes"
PEERS = "/api/v1/agh/peers"
BRIEF_KEY = "agh.capabilities_brief"
CATALOG_KEY = "agh.capability_catalog"
LIMIT = 1_048_576
FALSE_DIGEST = "sha256:" + "0" * 64


def document(name="build-site", **members) -> dict:
    """A capability in full, with the digest that is its own."""
    told = {"id": name, "summary": f"Does {name}.", "outcome": f"{name} is done."}
    told |= members
    read = CapabilityDocument.parse(told, Problems())
    return {"digest": read.compute_digest()} | told


def card(*ids, peer_id="designer", **members) -> dict:
    """A peer card that tells its capabilities in both places."""
    briefs = [{"id": each, "summary": f"Does {each}."} for each in ids]
    return {
        "peer_id": peer_id,
        "display_name": peer_id.title(),
        "profiles_supported": ["agh-network/v0"],
        "capabilities": list(ids),
        "artifacts_supported": ["capability"],
        "trust_modes_supported": ["unverified"],
        **({"ext": {BRIEF_KEY: briefs}} if ids else {}),
    } | members


def envelope(kind: str, body: dict, sender="designer", /, **members) -> dict:
    return {
        "protocol": "agh-network/v0",
        "id": f"msg_{uuid4().hex}",
        "kind": kind,
        "channel": "builders",
        "from": sender,
        "to": None,
        "ts": int(time.time()),
        "body": body,
        "proof": None,
    } | members


def greet(*ids, sender="designer", **members) -> dict:
    return greet_with(card(*ids, peer_id=sender), **members)


def greet_with(peer_card: dict, **members) -> dict:
    body = {"peer_card": peer_card}
    return envelope("greet", body, peer_card["peer_id"], **members)


def transfer(capability: dict, sender="designer", **members) -> dict:
    return envelope("capability", {"capability": capability}, sender, **members)


def whois(query="", **members) -> dict:
    return envelope("whois", {"type": "request", "query": query}, "ops", **members)


def rich(*ids, **members) -> dict:
    """The ext that asks for whole documents; of these ids, if any are named."""
    wanted = {"agh.capability_ids": list(ids)} if ids else {}
    return {"agh.include": ["capability_catalog"]} | wanted | members


def response(peer_card: dict, *documents, **members) -> dict:
    """A peer's own answer to somebody's whois, with a catalog."""
    body = {"type": "response", "peer_card": peer_card}
    ext = {CATALOG_KEY: {"capabilities": list(documents)}}
    heading = {"to": "agentlens", "reply_to": "msg_0", "ext": ext} | members
    return envelope("whois", body, peer_card["peer_id"], **heading)


def post(client, said: dict | bytes):
    raw = said if isinstance(said, bytes) else json.dumps(said).encode()
    return client.generic("POST", ENVELOPES, raw, content_type="application/json")


def send(client, *all_said) -> list[dict]:
    """What is said in return to the last of them; all must be taken."""
    for said in all_said:
        answer = post(client, said)
        assert answer.status_code == 200, answer.json()
        assert list(answer.json()) == ["envelopes"]
    return answer.json()["envelopes"]


def refused(client, said, status: int, code: str, reason: str) -> dict:
    """It is refused with this code, and with AGH's own; returns the error's body."""
    body = assert_error_response(post(client, said), status, code)
    assert body["details"].get("reason_code") == reason, body
    return body


def malformed_error(client, said) -> str:
    """Where it is malformed."""
    return refused(client, said, 400, "INVALID_BODY", "malformed")["details"]["path"]


def entry_of(peer_id="designer", channel="builders") -> CatalogEntry:
    key = compute_agent_key("agh", build_endpoint(channel, peer_id))
    return CatalogEntry.objects.select_related("agent_type").get(agent_key=key)


def capabilities(peer_id="designer", channel="builders") -> dict[str, dict]:
    """What the peer offers, by id."""
    rows = entry_of(peer_id, channel).agent_type.capabilities.all()
    return {row.name: row.properties for row in rows}


def known_in_full(peer_id="designer", channel="builders") -> set[str]:
    found = capabilities(peer_id, channel)
    return {name for name, told in found.items() if told.get("document")}


def catalog_of(answer: dict) -> list[dict]:
    return answer["ext"][CATALOG_KEY]["capabilities"]


def ids_of(answer: dict) -> list[str]:
    return [each["id"] for each in catalog_of(answer)]


def sender_of(answer: dict) -> str:
    return answer["from"]

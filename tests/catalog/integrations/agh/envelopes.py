"""AGH cards, documents and envelopes, and helpers that send and check them."""

import json
import time
from urllib.parse import quote
from uuid import uuid4

from capabilities.problems import Problems
from capabilities.protocols.agh.catalogs import CatalogRequest
from capabilities.protocols.agh.documents import CapabilityDocument
from capabilities.protocols.agh.envelopes import Envelope
from capabilities.protocols.agh.identifiers import build_endpoint
from catalog.integrations.agh.directory import iter_peers_with_documents
from catalog.integrations.agh.inbox import process_envelope
from catalog.integrations.agh.models import SeenEnvelope
from catalog.integrations.agh.responder import Responses
from catalog.models import AgentType, Capability, CatalogEntry, compute_agent_key
from tests.api_errors import assert_error_response

ENVELOPES_URL = "/api/v1/agh/envelopes"
PEERS_URL = "/api/v1/agh/peers"
BRIEF_KEY = "agh.capabilities_brief"
CATALOG_KEY = "agh.capability_catalog"
SIZE_LIMIT = 1_048_576
WRONG_DIGEST = "sha256:" + "0" * 64


def build_document(name="build-site", **members) -> dict:
    """Return a capability document with the correct digest."""
    defaults = {"id": name, "summary": f"Does {name}.", "outcome": f"{name} is done."}
    document = defaults | members
    parsed = CapabilityDocument.parse(document, Problems())
    return {"digest": parsed.compute_digest()} | document


def build_card(*ids, peer_id="designer", **members) -> dict:
    """Return a peer card with the capabilities as IDs and as briefs."""
    briefs = [{"id": name, "summary": f"Does {name}."} for name in ids]
    return {
        "peer_id": peer_id,
        "display_name": peer_id.title(),
        "profiles_supported": ["agh-network/v0"],
        "capabilities": list(ids),
        "artifacts_supported": ["capability"],
        "trust_modes_supported": ["unverified"],
        **({"ext": {BRIEF_KEY: briefs}} if ids else {}),
    } | members


def build_envelope(kind: str, body: dict, sender="designer", /, **members) -> dict:
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


def build_greet(*ids, sender="designer", **members) -> dict:
    return build_greet_from_card(build_card(*ids, peer_id=sender), **members)


def build_greet_from_card(card: dict, **members) -> dict:
    return build_envelope("greet", {"peer_card": card}, card["peer_id"], **members)


def build_transfer(document: dict, sender="designer", **members) -> dict:
    return build_envelope("capability", {"capability": document}, sender, **members)


def build_whois(query="", **members) -> dict:
    body = {"type": "request", "query": query}
    return build_envelope("whois", body, "ops", **members)


def build_catalog_request_ext(*ids, **members) -> dict:
    """Return the ext that requests documents, only those of the given IDs if any."""
    id_filter = {"agh.capability_ids": list(ids)} if ids else {}
    return {"agh.include": ["capability_catalog"]} | id_filter | members


def build_whois_response(card: dict, *documents, **members) -> dict:
    """Return a response of the peer itself, with a catalog of documents."""
    body = {"type": "response", "peer_card": card}
    ext = {CATALOG_KEY: {"capabilities": list(documents)}}
    header = {"to": "agentlens", "reply_to": "msg_0", "ext": ext} | members
    return build_envelope("whois", body, card["peer_id"], **header)


def serialize(envelope: dict) -> bytes:
    """Return compact JSON, whose length counts for the size limit."""
    return json.dumps(envelope, separators=(",", ":"), ensure_ascii=False).encode()


def post_envelope(client, envelope: dict | bytes):
    raw = envelope if isinstance(envelope, bytes) else json.dumps(envelope).encode()
    return client.generic("POST", ENVELOPES_URL, raw, content_type="application/json")


def send_envelopes(client, *envelopes) -> list[dict]:
    """Send envelopes that must all be accepted; return the responses to the last."""
    for envelope in envelopes:
        response = post_envelope(client, envelope)
        assert response.status_code == 200, response.json()
        assert list(response.json()) == ["envelopes"]
    return response.json()["envelopes"]


def build_transfer_url(capability_id: str, peer_id="designer") -> str:
    return f"{PEERS_URL}/{peer_id}/capabilities/{quote(capability_id, safe='')}"


def fetch_transfer(
    client, capability_id: str, peer_id="designer", **parameters
) -> dict:
    """Return the envelope that transfers a document."""
    url = build_transfer_url(capability_id, peer_id)
    response = client.get(url, parameters)
    assert response.status_code == 200, response.json()
    return response.json()


def assert_rejected(client, envelope, status: int, code: str, reason: str) -> dict:
    """Assert the status, the error code and AGH's reason code; return the body."""
    body = assert_error_response(post_envelope(client, envelope), status, code)
    assert body["details"].get("reason_code") == reason, body
    return body


def get_malformed_path(client, envelope) -> str:
    """Assert that the envelope is malformed; return the JSON path of the error."""
    body = assert_rejected(client, envelope, 400, "INVALID_BODY", "malformed")
    return body["details"]["path"]


def count_stored_rows() -> int:
    """Return the number of rows that processing an envelope may add."""
    tables = (AgentType, Capability, CatalogEntry, SeenEnvelope)
    return sum(table.objects.count() for table in tables)


def get_entry(peer_id="designer", channel="builders") -> CatalogEntry:
    key = compute_agent_key("agh", build_endpoint(channel, peer_id))
    return CatalogEntry.objects.select_related("agent_type").get(agent_key=key)


def get_capabilities(peer_id="designer", channel="builders") -> dict[str, dict]:
    """Return the stored properties of the peer's capabilities, by name."""
    rows = get_entry(peer_id, channel).agent_type.capabilities.all()
    return {row.name: row.properties for row in rows}


def get_documented_names(peer_id="designer", channel="builders") -> set[str]:
    """Return the names of the peer's capabilities whose document is stored."""
    properties_by_name = get_capabilities(peer_id, channel)
    return {
        name
        for name, properties in properties_by_name.items()
        if properties.get("document")
    }


def get_catalog(envelope: dict) -> list[dict]:
    return envelope["ext"][CATALOG_KEY]["capabilities"]


def get_catalog_ids(envelope: dict) -> list[str]:
    return [document["id"] for document in get_catalog(envelope)]


def get_sender(envelope: dict) -> str:
    return envelope["from"]


def receive_envelopes(*envelopes: dict) -> None:
    """Process envelopes without HTTP, so also without a permission check."""
    for envelope in envelopes:
        process_envelope(Envelope.parse(envelope, int(time.time())))


def send_whois(query="", **members) -> list[dict]:
    """Process a whois request without HTTP; return the responses by sender."""
    responses = process_whois(query, **members).envelopes
    return sorted((response.raw for response in responses), key=get_sender)


def process_whois(query="", **members) -> Responses:
    request = build_whois(query, **members)
    return process_envelope(Envelope.parse(request, int(time.time())))


def get_responders(query="", **members) -> list[str]:
    """Return which peers respond to a whois request, besides AgentLens."""
    senders = map(get_sender, send_whois(query, **members))
    return [sender for sender in senders if sender != "agentlens"]


def get_document_ids(peer) -> list[str]:
    """Return the IDs of the documents that a rich response would contain."""
    pairs = iter_peers_with_documents([peer], CatalogRequest(include_documents=True))
    return [document.id for _, documents in pairs for document in documents]


def write_local_catalog(folder, *documents) -> None:
    """Write a local catalog, in which documents have no digests."""
    folder.mkdir(exist_ok=True)
    contents = [
        {key: document[key] for key in document if key != "digest"}
        for document in documents
    ]
    (folder / "capabilities.json").write_text(json.dumps({"capabilities": contents}))

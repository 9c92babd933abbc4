"""Envelope bodies of each message kind: building and parsing them."""

from typing import Any

from ...problems import DEPTH_LIMIT, Document, Problems, member_path
from .cards import PeerCard
from .documents import CapabilityDocument
from .errors import EnvelopeError, ReasonCode, build_malformed_error, raise_first_error
from .members import read_string

# A catalog nests its documents deeper in the envelope than a transfer does.
DOCUMENT_DEPTH_LIMIT = DEPTH_LIMIT - 8
CARD_PATH = "$.body.peer_card"
CAPABILITY_PATH = "$.body.capability"


def build_greet_body(card: PeerCard, summary: str = "") -> Document:
    body: Document = {"peer_card": card.to_wire()}
    return body | {"summary": summary} if summary else body


def build_whois_request_body(query: str = "") -> Document:
    return {"type": "request", "query": query}


def build_whois_response_body(card: PeerCard) -> Document:
    return {"type": "response", "peer_card": card.to_wire()}


def build_transfer_body(document: CapabilityDocument) -> Document:
    return {"capability": document.to_wire()}


def read_greet(body: Document) -> PeerCard:
    read_string(body, "summary", "$.body")
    return read_card(body)


def read_whois(body: Document) -> PeerCard | None:
    """Return the peer card of a whois response, or None for a request."""
    match read_string(body, "type", "$.body"):
        case "response":
            return read_card(body)
        case "request":
            read_string(body, "query", "$.body")
            reject_card(body)
            return None
    raise build_malformed_error("must be request or response", "$.body.type")


def reject_card(body: Document) -> None:
    if body.get("peer_card") is not None:
        raise build_malformed_error("must not be in a request", CARD_PATH)


def read_card(body: Document) -> PeerCard:
    problems = Problems()
    card = PeerCard.parse(body.get("peer_card"), problems, CARD_PATH)
    raise_first_error(problems)
    return card


def read_transfer(body: Document) -> CapabilityDocument:
    """Return the transferred document, which must have a matching digest."""
    document = read_capability_document(body.get("capability"), CAPABILITY_PATH)
    if not document.received_digest:
        path = f"{CAPABILITY_PATH}.digest"
        raise build_malformed_error("must be a non-empty string", path)
    check_digest(document, CAPABILITY_PATH)
    return document


def read_capability_document(value: Any, path: str) -> CapabilityDocument:
    """Parse a document and check that it also fits into a catalog response."""
    problems = Problems()
    document = CapabilityDocument.parse(value, problems, path)
    raise_first_error(problems)
    if is_nested_deeper_than(value, DOCUMENT_DEPTH_LIMIT):
        message = f"must not be nested deeper than {DOCUMENT_DEPTH_LIMIT} levels"
        raise build_malformed_error(message, path)
    return document


def is_nested_deeper_than(value: Any, levels: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    children = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(
        is_nested_deeper_than(child, levels - 1) for child in children
    )


def check_digest(document: CapabilityDocument, path: str) -> None:
    """Raise EnvelopeError if the received digest does not match the document."""
    if not document.is_verified:
        expected = document.compute_digest()
        message = f"does not match the document, whose digest is {expected}"
        digest_path = member_path(path, "digest")
        raise EnvelopeError(ReasonCode.VERIFICATION_FAILED, message, digest_path)

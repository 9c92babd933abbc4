"""What the envelopes of each kind hold, read and written."""

from typing import Any

from ...problems import DEPTH_LIMIT, Document, Problems, member
from .cards import PeerCard
from .documents import CapabilityDocument
from .members import read_text
from .refusals import ReasonCode, Refusal, malformed, refuse_any

# In a catalog a document lies deeper in its envelope than in a transfer.
DOCUMENT_DEPTH = DEPTH_LIMIT - 8
CARD = "$.body.peer_card"
CAPABILITY = "$.body.capability"


def greet_body(card: PeerCard, summary: str = "") -> Document:
    told = {"summary": summary} if summary else {}
    return {"peer_card": card.to_wire(), **told}


def request_body(query: str = "") -> Document:
    return {"type": "request", "query": query}


def response_body(card: PeerCard) -> Document:
    return {"type": "response", "peer_card": card.to_wire()}


def transfer_body(document: CapabilityDocument) -> Document:
    return {"capability": document.to_wire()}


def read_greet(body: Document) -> PeerCard:
    read_text(body, "summary", "$.body")
    return read_card(body)


def read_whois(body: Document) -> PeerCard | None:
    """The card of a response; a request has none."""
    match read_text(body, "type", "$.body"):
        case "response":
            return read_card(body)
        case "request":
            read_text(body, "query", "$.body")
            refuse_card(body)
            return None
    raise malformed("must be request or response", "$.body.type")


def refuse_card(body: Document) -> None:
    if body.get("peer_card") is not None:
        raise malformed("must not be in a request", CARD)


def read_card(body: Document) -> PeerCard:
    problems = Problems()
    card = PeerCard.read(body.get("peer_card"), problems, CARD)
    refuse_any(problems)
    return card


def read_transfer(body: Document) -> CapabilityDocument:
    """The document that is handed over; its digest must be there, and its own."""
    document = read_document(body.get("capability"), CAPABILITY)
    if not document.carried:
        raise malformed("must be a non-empty string", f"{CAPABILITY}.digest")
    refuse_false(document, CAPABILITY)
    return document


def read_document(stated: Any, at: str) -> CapabilityDocument:
    """A document that can be passed on, in a catalog as well."""
    problems = Problems()
    document = CapabilityDocument.read(stated, problems, at)
    refuse_any(problems)
    if is_deeper(stated, DOCUMENT_DEPTH):
        raise malformed(f"is nested deeper than {DOCUMENT_DEPTH} levels", at)
    return document


def is_deeper(value: Any, levels: int) -> bool:
    inside = value.values() if isinstance(value, dict) else value
    if not isinstance(value, (dict, list)):
        return False
    return levels == 0 or any(is_deeper(each, levels - 1) for each in inside)


def refuse_false(document: CapabilityDocument, at: str) -> None:
    """Refuse a document that came with the digest of another."""
    if not document.verified:
        message = f"is not the digest of the document, {document.digest()}"
        path = member(at, "digest")
        raise Refusal(ReasonCode.VERIFICATION_FAILED, message, path)

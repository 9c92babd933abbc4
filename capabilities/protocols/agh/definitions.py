"""Definitions of peers: the peer card plus the channel, or a catalog plus the peer ID.

A catalog is the content of AGH's local catalog file, with a `peer_id` added.
"""

from collections.abc import Iterable

from ...problems import Document, Problems, member_path
from .cards import CapabilityBrief, PeerCard, read_display_name, read_peer_id
from .documents import HASHED_MEMBERS, REQUIRED_MEMBERS, CapabilityDocument
from .identifiers import CHANNEL_PATTERN, normalize_text

CATALOG_MEMBERS = ("peer_id", "display_name", "capabilities")


def build_definition(card: PeerCard, channel: str) -> Document:
    """Return the card as received, with the channel in which the peer greeted."""
    document = card.raw or card.to_wire()
    return {**document, "channel": channel} if channel else document


def read_definition(document: Document, problems: Problems) -> tuple[str, PeerCard]:
    """Return the channel (empty if there is none) and the card without it."""
    if is_catalog(document):
        return "", build_catalog_card(document, problems)
    card = {key: document[key] for key in document if key != "channel"}
    return read_channel(document, problems), PeerCard.parse(card, problems)


def read_channel(document: Document, problems: Problems) -> str:
    value = document.get("channel")
    if value is None:
        return ""
    channel = normalize_text(value) if isinstance(value, str) else ""
    if not CHANNEL_PATTERN.fullmatch(channel):
        message = f"must be a string that matches {CHANNEL_PATTERN.pattern}"
        problems.error("$.channel", message)
    return channel


def is_catalog(document: Document) -> bool:
    """Return whether the document is a catalog: a list of capability documents."""
    items = document.get("capabilities")
    return (
        "profiles_supported" not in document
        and isinstance(items, list)
        and bool(items)
        and all(
            isinstance(item, dict) and all(key in item for key in REQUIRED_MEMBERS)
            for item in items
        )
    )


def build_catalog_card(document: Document, problems: Problems) -> PeerCard:
    """Return the card of a peer that is known only by its catalog."""
    if "peer_id" not in document:
        message = "is missing: add the ID of the peer that has these capabilities"
        problems.error("$.peer_id", message)
        peer_id = ""
    else:
        peer_id = read_peer_id(document, problems, "$")
    card = PeerCard(
        peer_id=peer_id, display_name=read_display_name(document, problems, "$")
    )
    # Their problems are reported where the documents themselves are read.
    documents = read_catalog_documents(document, Problems())
    briefs = [CapabilityBrief(item.id, item.summary) for _, item in documents]
    return card.with_capabilities(briefs)


def read_catalog_documents(
    document: Document, problems: Problems
) -> list[tuple[str, CapabilityDocument]]:
    """Return path and document of each capability, checked as AGH checks its files."""
    return [
        (path, read_authored_document(item, problems, path))
        for path, item in problems.iter_objects(document, "capabilities")
    ]


def read_authored_document(
    value: Document, problems: Problems, path: str
) -> CapabilityDocument:
    """Parse a document from a file, which must not have unknown keys or a digest."""
    check_known_members(value, HASHED_MEMBERS, problems, path)
    document = CapabilityDocument.parse(value, problems, path)
    if isinstance(value.get("version"), str) and not document.version:
        problems.error(member_path(path, "version"), "must not be blank")
    return document


def check_known_members(
    document: Document, known_members: Iterable[str], problems: Problems, path: str
) -> None:
    for key in document:
        if key not in known_members:
            problems.error(member_path(path, key), "is not a known key")

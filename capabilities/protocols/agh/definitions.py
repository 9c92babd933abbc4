"""Stored definitions of peers: the peer card plus the channel."""

from ...problems import Document, Problems
from .cards import PeerCard
from .identifiers import CHANNEL_PATTERN, normalize_text


def build_definition(card: PeerCard, channel: str) -> Document:
    """Return the card as received, with the channel in which the peer greeted."""
    document = card.raw or card.to_wire()
    return {**document, "channel": channel} if channel else document


def read_definition(document: Document, problems: Problems) -> tuple[str, PeerCard]:
    """Return the channel (empty if there is none) and the card without it."""
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

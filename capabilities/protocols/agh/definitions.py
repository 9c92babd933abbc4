"""What AgentLens keeps of a peer: its card, and beside it the channel."""

from ...problems import Document, Problems
from .cards import PeerCard
from .identifiers import CHANNEL, trimmed


def definition_of(card: PeerCard, channel: str) -> Document:
    """The definition of a peer that greeted in the channel; the card as it came."""
    stated = card.raw or card.to_wire()
    return {**stated, "channel": channel} if channel else stated


def read_definition(document: Document, problems: Problems) -> tuple[str, PeerCard]:
    """The channel, '' when none is told, and the card without it."""
    stated = {key: document[key] for key in document if key != "channel"}
    return read_channel(document, problems), PeerCard.read(stated, problems)


def read_channel(document: Document, problems: Problems) -> str:
    stated = document.get("channel")
    if stated is None:
        return ""
    channel = trimmed(stated) if isinstance(stated, str) else ""
    if not CHANNEL.fullmatch(channel):
        problems.error("$.channel", f"must be a string that matches {CHANNEL.pattern}")
    return channel

"""AGH envelopes, validated in the order that the protocol prescribes."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Self
from uuid import uuid4

from ...problems import Document, member_path
from .bodies import CAPABILITY_PATH, CARD_PATH, read_greet, read_transfer, read_whois
from .cards import PeerCard, require_proof
from .credentials import reject_credentials
from .documents import CapabilityDocument
from .errors import EnvelopeError, ReasonCode, build_malformed_error
from .identifiers import (
    CHANNEL_PATTERN,
    DIRECT_ID_PATTERN,
    PEER_ID_PATTERN,
    PROTOCOL_VERSION,
    THREAD_ID_PATTERN,
    WORK_ID_PATTERN,
    WORKSPACE_ID_PATTERN,
)
from .members import (
    decode_envelope,
    read_body,
    read_id,
    read_matching,
    read_object,
    read_required_string,
    read_string,
    read_ts,
    read_unix_timestamp,
)

# How far the `ts` of an envelope may be from the receiver's clock. With `expires_at`,
# it may be older.
FRESHNESS_SECONDS = 300
# The later revision adds these members to messages of conversations, and forbids them
# in messages of discovery.
CONVERSATION_MEMBERS = {
    "surface": None,
    "thread_id": THREAD_ID_PATTERN,
    "direct_id": DIRECT_ID_PATTERN,
    "work_id": WORK_ID_PATTERN,
}


class MessageKind(StrEnum):
    GREET = "greet"
    WHOIS = "whois"
    CAPABILITY = "capability"
    SAY = "say"
    DIRECT = "direct"
    RECEIPT = "receipt"
    TRACE = "trace"


ENVELOPE_MEMBERS = {
    "protocol",
    "id",
    "workspace_id",
    "kind",
    "channel",
    "from",
    "to",
    "reply_to",
    "trace_id",
    "causation_id",
    "interaction_id",
    "ts",
    "expires_at",
    "body",
    "proof",
    "ext",
    *CONVERSATION_MEMBERS,
}
DISCOVERY_MESSAGE_KINDS = {MessageKind.GREET, MessageKind.WHOIS}
HANDLED_MESSAGE_KINDS = {*DISCOVERY_MESSAGE_KINDS, MessageKind.CAPABILITY}
MESSAGE_KINDS_BY_VALUE = {kind.value: kind for kind in MessageKind}


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """A valid envelope; missing members are empty, and an empty `to` is a broadcast.

    `raw` is the complete received object. A greet or a whois response has a `card`,
    a capability transfer a verified `document`.
    """

    id: str
    kind: MessageKind
    channel: str
    sender: str
    ts: int
    body: Document
    workspace_id: str = ""
    to: str = ""
    reply_to: str = ""
    trace_id: str = ""
    causation_id: str = ""
    interaction_id: str = ""
    expires_at: int | None = None
    proof: Document | None = None
    ext: Document = field(default_factory=dict)
    raw: Document = field(default_factory=dict, repr=False)
    card: PeerCard | None = None
    document: CapabilityDocument | None = None

    @classmethod
    def parse(cls, received: bytes | Document | list[Any], now: int) -> Self:
        """Parse and validate an envelope; raises EnvelopeError if it is invalid."""
        envelope = cls.from_raw(decode_envelope(received))
        check_freshness(envelope, now)
        check_conversation_members(envelope)
        check_recipient(envelope)
        envelope = envelope.with_parsed_body()
        check_sender(envelope)
        reject_credentials(envelope.raw)
        return envelope

    @classmethod
    def from_raw(cls, raw: Document) -> Self:
        """Read the members that all kinds have, each validated on its own."""
        read_protocol(raw)
        return cls(
            id=read_required_id(raw),
            workspace_id=read_workspace_id(raw),
            kind=read_kind(raw),
            channel=read_required_string(raw, "channel", CHANNEL_PATTERN),
            sender=read_required_string(raw, "from", PEER_ID_PATTERN),
            to=read_matching(raw, "to", PEER_ID_PATTERN),
            reply_to=read_id(raw, "reply_to"),
            trace_id=read_id(raw, "trace_id"),
            causation_id=read_id(raw, "causation_id"),
            interaction_id=read_id(raw, "interaction_id"),
            ts=read_ts(raw),
            expires_at=read_unix_timestamp(raw, "expires_at"),
            body=read_body(raw),
            proof=read_object(raw, "proof"),
            ext=read_object(raw, "ext") or {},
            raw=raw,
        )

    def with_parsed_body(self) -> Self:
        """Return a copy with the card or document from the body, validated."""
        match self.kind:
            case MessageKind.GREET:
                return replace(self, card=read_greet(self.body))
            case MessageKind.WHOIS:
                return replace(self, card=read_whois(self.body))
            case MessageKind.CAPABILITY:
                return replace(self, document=read_transfer(self.body))
        return self

    @property
    def is_handled(self) -> bool:
        """Whether AgentLens processes messages of this kind; others are ignored."""
        return self.kind in HANDLED_MESSAGE_KINDS

    @property
    def is_whois_request(self) -> bool:
        return self.kind == MessageKind.WHOIS and self.card is None

    @property
    def is_whois_response(self) -> bool:
        return self.kind == MessageKind.WHOIS and self.card is not None

    @property
    def query(self) -> str:
        """The query of a whois request; an empty query matches every peer."""
        if not self.is_whois_request:
            return ""
        return read_string(self.body, "query", "$.body")

    @property
    def unknown_members(self) -> Document:
        """Members of newer protocol revisions, which are always passed on."""
        return {key: self.raw[key] for key in self.raw if key not in ENVELOPE_MEMBERS}

    def to_wire(self) -> Document:
        """Return the envelope to relay: exactly as received, in the same order."""
        return self.raw


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeHeader:
    """Sender, recipient and IDs of an envelope to send."""

    channel: str
    sender: str
    to: str = ""
    reply_to: str = ""
    workspace_id: str = ""
    id: str = field(default_factory=lambda: f"msg_{uuid4().hex}")

    @classmethod
    def for_reply(cls, request: Envelope, sender: str) -> Self:
        return cls(
            channel=request.channel,
            sender=sender,
            to=request.sender,
            reply_to=request.id,
            workspace_id=request.workspace_id,
        )


def build_envelope(
    kind: MessageKind,
    header: EnvelopeHeader,
    body: Document,
    ts: int,
    ext: Document | None = None,
) -> Envelope:
    """Build a valid envelope; raises EnvelopeError if receivers would reject it."""
    return Envelope.parse(build_raw_envelope(kind, header, body, ts, ext), now=ts)


def build_raw_envelope(
    kind: MessageKind,
    header: EnvelopeHeader,
    body: Document,
    ts: int,
    ext: Document | None = None,
) -> Document:
    """Return the envelope's JSON object; its proof is an explicit null."""
    workspace_id, reply_to = header.workspace_id, header.reply_to
    return {
        "protocol": PROTOCOL_VERSION,
        "id": header.id,
        **({"workspace_id": workspace_id} if workspace_id else {}),
        "kind": kind.value,
        "channel": header.channel,
        "from": header.sender,
        "to": header.to or None,
        **({"reply_to": reply_to} if reply_to else {}),
        "ts": ts,
        "body": body,
        **({"ext": ext} if ext else {}),
        "proof": None,
    }


def check_freshness(envelope: Envelope, now: int) -> None:
    """Raise EnvelopeError if the envelope is expired or too far in the future."""
    if envelope.ts - now > FRESHNESS_SECONDS:
        raise build_freshness_error(
            f"is more than {FRESHNESS_SECONDS} seconds in the future", "$.ts"
        )
    if envelope.expires_at is not None:
        if envelope.expires_at <= now:
            raise build_freshness_error("is in the past", "$.expires_at")
    elif now - envelope.ts > FRESHNESS_SECONDS:
        raise build_freshness_error(
            f"is more than {FRESHNESS_SECONDS} seconds in the past", "$.ts"
        )


def build_freshness_error(message: str, path: str) -> EnvelopeError:
    return EnvelopeError(ReasonCode.EXPIRED, message, path)


def check_conversation_members(envelope: Envelope) -> None:
    """Raise EnvelopeError for a conversation member that is invalid or not allowed."""
    for key, pattern in CONVERSATION_MEMBERS.items():
        value = read_matching(envelope.raw, key, pattern)
        if value and envelope.kind in DISCOVERY_MESSAGE_KINDS:
            message = f"must not be in a {envelope.kind.value} envelope"
            raise build_malformed_error(message, member_path("$", key))


def check_recipient(envelope: Envelope) -> None:
    """Raise EnvelopeError for a greeting to one peer: greetings are for all peers."""
    if envelope.kind == MessageKind.GREET and envelope.to:
        message = "must be null or missing in a greet envelope"
        raise build_malformed_error(message, "$.to")


def check_sender(envelope: Envelope) -> None:
    """Raise EnvelopeError for another peer's card, a missing reply_to or proof."""
    if envelope.document is not None:
        require_proof([envelope.document.id], envelope.proof, CAPABILITY_PATH)
    if envelope.card is None:
        return
    if envelope.is_whois_response and not envelope.reply_to:
        raise build_malformed_error("must be the ID of the whois request", "$.reply_to")
    if envelope.card.peer_id != envelope.sender:
        raise build_malformed_error(
            "must equal the sender (from)", f"{CARD_PATH}.peer_id"
        )
    capabilities_path = member_path(CARD_PATH, "capabilities")
    require_proof(envelope.card.capabilities, envelope.proof, capabilities_path)


def read_protocol(raw: Document) -> None:
    if raw.get("protocol") != PROTOCOL_VERSION:
        raise build_malformed_error(f"must be {PROTOCOL_VERSION}", "$.protocol")


def read_required_id(raw: Document) -> str:
    envelope_id = read_id(raw, "id")
    if not envelope_id:
        raise build_malformed_error("must be a non-empty string", "$.id")
    return envelope_id


def read_workspace_id(raw: Document) -> str:
    read_id(raw, "workspace_id")  # checks the length, which the pattern does not limit
    return read_matching(raw, "workspace_id", WORKSPACE_ID_PATTERN)


def read_kind(raw: Document) -> MessageKind:
    kind = read_required_string(raw, "kind")
    if kind not in MESSAGE_KINDS_BY_VALUE:
        message = f"must be one of {', '.join(MESSAGE_KINDS_BY_VALUE)}"
        raise EnvelopeError(ReasonCode.UNSUPPORTED_KIND, message, "$.kind")
    return MESSAGE_KINDS_BY_VALUE[kind]

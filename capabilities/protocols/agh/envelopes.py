"""Envelopes: what peers send one another, checked in the order AGH prescribes."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Self
from uuid import uuid4

from ...problems import Document, member
from .bodies import CAPABILITY, CARD, read_greet, read_transfer, read_whois
from .cards import PeerCard, refuse_unproven
from .credentials import refuse_credentials
from .documents import CapabilityDocument
from .identifiers import (
    CHANNEL,
    DIRECT_ID,
    PEER_ID,
    PROTOCOL,
    THREAD_ID,
    WORK_ID,
    WORKSPACE_ID,
)
from .members import (
    opened,
    read_body,
    read_id,
    read_matching,
    read_object,
    read_required,
    read_seconds,
    read_text,
    read_ts,
)
from .refusals import ReasonCode, Refusal, malformed

# Seconds by which a message may be older, or its sender's clock ahead.
REPLAY_AGE = 300
# Conversations have them, in the later revision; discovery never.
CONVERSATION = {
    "surface": None,
    "thread_id": THREAD_ID,
    "direct_id": DIRECT_ID,
    "work_id": WORK_ID,
}


class MessageKind(StrEnum):
    GREET = "greet"
    WHOIS = "whois"
    CAPABILITY = "capability"
    SAY = "say"
    DIRECT = "direct"
    RECEIPT = "receipt"
    TRACE = "trace"


MEMBERS = {
    *("protocol", "id", "workspace_id", "kind", "channel", "from", "to", "reply_to"),
    *("trace_id", "causation_id", "interaction_id", "ts", "expires_at", "body"),
    *("proof", "ext", *CONVERSATION),
}
DISCOVERY = {MessageKind.GREET, MessageKind.WHOIS}
HANDLED = {*DISCOVERY, MessageKind.CAPABILITY}
KNOWN = {kind.value: kind for kind in MessageKind}


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """A valid envelope; '' stands for what is absent, and `to` '' for everybody.

    `raw` is what was received, to the last member. A greet or a whois response
    holds a `card`, a capability transfer a verified `document`.
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
    def parse(cls, received: bytes | Document, now: int) -> Self:
        """The envelope in the bytes or the object; raises Refusal without one."""
        envelope = cls.of(opened(received))
        refuse_stale(envelope, now)
        refuse_conversation(envelope)
        whole = envelope.with_contents()
        refuse_impostor(whole)
        refuse_credentials(whole.raw)
        return whole

    @classmethod
    def of(cls, raw: Document) -> Self:
        """The members every kind has, each of them valid by itself."""
        read_protocol(raw)
        return cls(
            id=read_id(raw, "id") or read_required(raw, "id"),
            workspace_id=read_workspace(raw),
            kind=read_kind(raw),
            channel=read_required(raw, "channel", CHANNEL),
            sender=read_required(raw, "from", PEER_ID),
            to=read_matching(raw, "to", PEER_ID),
            reply_to=read_id(raw, "reply_to"),
            trace_id=read_id(raw, "trace_id"),
            causation_id=read_id(raw, "causation_id"),
            interaction_id=read_id(raw, "interaction_id"),
            ts=read_ts(raw),
            expires_at=read_seconds(raw, "expires_at"),
            body=read_body(raw),
            proof=read_object(raw, "proof"),
            ext=read_object(raw, "ext") or {},
            raw=raw,
        )

    def with_contents(self) -> Self:
        """With the card or the document that its body holds, checked."""
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
        """Whether a catalog has anything to do with it; other kinds are talk."""
        return self.kind in HANDLED

    @property
    def is_request(self) -> bool:
        return self.kind == MessageKind.WHOIS and self.card is None

    @property
    def is_response(self) -> bool:
        return self.kind == MessageKind.WHOIS and self.card is not None

    @property
    def query(self) -> str:
        """What a whois request asks for; '' asks for everybody."""
        return read_text(self.body, "query", "$.body") if self.is_request else ""

    @property
    def unknown(self) -> Document:
        """Members of newer revisions, always passed on."""
        return {key: self.raw[key] for key in self.raw if key not in MEMBERS}

    def relayed(self) -> Document:
        """What to pass on: exactly what was received, in the order it came."""
        return self.raw


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """From whom and to whom; a peer that names a workspace gets it back."""

    channel: str
    sender: str
    to: str = ""
    reply_to: str = ""
    workspace_id: str = ""
    id: str = field(default_factory=lambda: f"msg_{uuid4().hex}")

    @classmethod
    def answering(cls, request: Envelope, sender: str) -> Self:
        return cls(
            channel=request.channel,
            sender=sender,
            to=request.sender,
            reply_to=request.id,
            workspace_id=request.workspace_id,
        )


def emit(
    kind: MessageKind,
    heading: Heading,
    body: Document,
    ts: int,
    ext: Document | None = None,
) -> Envelope:
    """An envelope to send (`raw` is its JSON); Refusal when nobody should take it."""
    return Envelope.parse(draft(kind, heading, body, ts, ext), now=ts)


def draft(
    kind: MessageKind,
    heading: Heading,
    body: Document,
    ts: int,
    ext: Document | None = None,
) -> Document:
    """The members in the seed's order; the proof is null, and says so."""
    workspace, reply_to = heading.workspace_id, heading.reply_to
    return {
        "protocol": PROTOCOL,
        "id": heading.id,
        **({"workspace_id": workspace} if workspace else {}),
        "kind": kind.value,
        "channel": heading.channel,
        "from": heading.sender,
        "to": heading.to or None,
        **({"reply_to": reply_to} if reply_to else {}),
        "ts": ts,
        "body": body,
        **({"ext": ext} if ext else {}),
        "proof": None,
    }


def refuse_stale(envelope: Envelope, now: int) -> None:
    """Refuse what is out of date, or ahead of any honest clock."""
    if envelope.ts - now > REPLAY_AGE:
        raise expired(f"is more than {REPLAY_AGE} seconds ahead", "$.ts")
    if envelope.expires_at is not None:
        if envelope.expires_at <= now:
            raise expired("has passed", "$.expires_at")
    elif now - envelope.ts > REPLAY_AGE:
        raise expired(f"is more than {REPLAY_AGE} seconds old", "$.ts")


def expired(message: str, path: str) -> Refusal:
    return Refusal(ReasonCode.EXPIRED, message, path)


def refuse_conversation(envelope: Envelope) -> None:
    """Refuse a conversation's members on discovery, and unfit ones anywhere."""
    for key, pattern in CONVERSATION.items():
        stated = read_matching(envelope.raw, key, pattern)
        if stated and envelope.kind in DISCOVERY:
            message = f"must not be in a {envelope.kind.value}"
            raise malformed(message, member("$", key))


def refuse_impostor(envelope: Envelope) -> None:
    """Refuse a card that is not the sender's own, or claims what it cannot prove."""
    if envelope.document is not None:
        refuse_unproven([envelope.document.id], envelope.proof, CAPABILITY)
    if envelope.card is None:
        return
    if envelope.is_response and not envelope.reply_to:
        raise malformed("must name the request that is answered", "$.reply_to")
    if envelope.card.peer_id != envelope.sender:
        raise malformed("must be the sender", f"{CARD}.peer_id")
    claimed = envelope.card.capabilities
    refuse_unproven(claimed, envelope.proof, member(CARD, "capabilities"))


def read_protocol(raw: Document) -> None:
    if raw.get("protocol") != PROTOCOL:
        raise malformed(f"must be {PROTOCOL}", "$.protocol")


def read_workspace(raw: Document) -> str:
    return read_id(raw, "workspace_id") and read_matching(
        raw, "workspace_id", WORKSPACE_ID
    )


def read_kind(raw: Document) -> MessageKind:
    kind = read_required(raw, "kind")
    if kind not in KNOWN:
        message = f"must be one of {', '.join(KNOWN)}"
        raise Refusal(ReasonCode.UNSUPPORTED_KIND, message, "$.kind")
    return KNOWN[kind]

"""What we say for the peers we know."""

import contextlib
from collections.abc import Iterator
from itertools import islice

from django.utils import timezone

from capabilities.problems import Document
from capabilities.protocols.agh import (
    LOCAL,
    PRIVILEGED,
    CapabilityDocument,
    CatalogRequest,
    Envelope,
    Heading,
    MessageKind,
    ReasonCode,
    Refusal,
    TooLarge,
    catalog_ext,
    draft,
    emit,
    response_body,
    serialised,
    transfer_body,
)

from .directory import Peer, find_peer, present, with_documents

# As many answer one broadcast, and with so much in all.
ANSWERS_LIMIT, BYTES_LIMIT = 1000, 16 * 1_048_576


def answers(request: Envelope) -> Iterator[Envelope]:
    """One from each peer that is meant, as if it spoke itself; raises Refusal."""
    asked = CatalogRequest.of(request.ext)
    if request.to:
        peer = find_peer(request.to, request.channel)
        if peer is None:
            raise not_target(request)
        for told in with_documents([peer], asked):
            yield answer(request, *told, asked)
        return
    others = (
        peer
        for peer in present(request.channel, request.query)
        if peer.card.peer_id != request.sender
    )
    room = BYTES_LIMIT
    for told in with_documents(islice(others, ANSWERS_LIMIT), asked):
        # What nobody should take is not said, and nobody asked for it by name.
        with contextlib.suppress(Refusal):
            said = answer(request, *told, asked)
            room -= len(serialised(said.raw))
            if room < 0:
                return
            yield said


def not_target(envelope: Envelope) -> Refusal:
    message = f"{envelope.to} is not known in this channel"
    return Refusal(ReasonCode.NOT_TARGET, message, "$.to")


def answer(
    request: Envelope,
    peer: Peer,
    documents: list[CapabilityDocument],
    asked: CatalogRequest,
) -> Envelope:
    heading = Heading.answering(request, peer.card.peer_id)
    ext = catalog_ext(documents, asked)
    now = int(timezone.now().timestamp())
    try:
        return emit(MessageKind.WHOIS, heading, response_body(peer.card), now, ext)
    except TooLarge as error:
        message = f"its answer {error.message}: ask for fewer capabilities"
        raise TooLarge(ReasonCode.INTERNAL, message) from error


def transfer(peer: Peer, capability_id: str) -> Document | None:
    """The envelope that hands a document over, with whatever came along with it."""
    known = peer.record(capability_id)
    document = known.whole() if known else None
    # A privilege only its peer can prove, and so hand on.
    if known is None or document is None or document.id == PRIVILEGED:
        return None
    relay = known.relayed()
    heading = Heading(
        channel=peer.channel or LOCAL,
        sender=peer.card.peer_id,
        workspace_id=relay.pop("workspace_id", ""),
    )
    now = int(timezone.now().timestamp())
    body = transfer_body(document) | relay.pop("body", {})
    ext = relay.pop("ext", None)
    said = draft(MessageKind.CAPABILITY, heading, body, now, ext) | relay
    try:
        return Envelope.parse(said, now).raw
    except TooLarge as error:
        message = f"its transfer {error.message}"
        raise TooLarge(ReasonCode.INTERNAL, message) from error

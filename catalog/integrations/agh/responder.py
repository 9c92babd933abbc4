"""Envelopes that AgentLens sends on behalf of the peers in the catalog."""

from dataclasses import dataclass, field
from itertools import islice

from django.utils import timezone

from capabilities.problems import Document
from capabilities.protocols.agh import (
    DEFAULT_CHANNEL,
    PRIVILEGED_CAPABILITY,
    CapabilityDocument,
    CatalogRequest,
    Envelope,
    EnvelopeError,
    EnvelopeHeader,
    EnvelopeTooLarge,
    MessageKind,
    ReasonCode,
    build_catalog_ext,
    build_envelope,
    build_raw_envelope,
    build_transfer_body,
    build_whois_response_body,
    dump_compact_json,
)

from .directory import Peer, find_peer, iter_peers_with_documents, iter_present_peers

# How many responses a broadcast gets at most, and their total size.
RESPONSES_LIMIT, RESPONSES_BYTES_LIMIT = 1000, 16 * 1_048_576


@dataclass(frozen=True, slots=True)
class OmittedResponse:
    """A response to a broadcast that is not sent, and why."""

    peer_id: str
    message: str


@dataclass
class Responses:
    """The responses to a whois request, and those that limits prevent."""

    envelopes: list[Envelope] = field(default_factory=list)
    omitted: list[OmittedResponse] = field(default_factory=list)


def build_responses(request: Envelope) -> Responses:
    """Build one whois response from each matching peer, in that peer's name.

    Raise EnvelopeError if the request is addressed to an unknown peer, or if the
    response of the only peer it is addressed to exceeds the size limit.
    """
    if request.to:
        return Responses([build_direct_response(request)])
    return build_broadcast_responses(request)


def build_direct_response(request: Envelope) -> Envelope:
    catalog_request = CatalogRequest.from_ext(request.ext)
    peer = find_peer(request.to, request.channel)
    if peer is None:
        raise build_not_target_error(request)
    [(peer, documents)] = iter_peers_with_documents([peer], catalog_request)
    return build_response(request, peer, documents, catalog_request)


def build_broadcast_responses(request: Envelope) -> Responses:
    """Build responses until a limit of the whole broadcast is reached."""
    catalog_request = CatalogRequest.from_ext(request.ext)
    peers = (
        peer
        for peer in iter_present_peers(request.channel, request.query)
        if peer.card.peer_id != request.sender
    )
    responses, remaining_bytes = Responses(), RESPONSES_BYTES_LIMIT
    limited = islice(peers, RESPONSES_LIMIT)
    for peer, documents in iter_peers_with_documents(limited, catalog_request):
        try:
            response = build_response(request, peer, documents, catalog_request)
        except EnvelopeError as error:
            omitted = OmittedResponse(peer.card.peer_id, error.message)
            responses.omitted.append(omitted)
            continue
        remaining_bytes -= len(dump_compact_json(response.raw))
        if remaining_bytes < 0:
            responses.omitted.append(build_first_omitted(peer))
            return responses
        responses.envelopes.append(response)
    if next_peer := next(peers, None):
        responses.omitted.append(build_first_omitted(next_peer))
    return responses


def build_first_omitted(peer: Peer) -> OmittedResponse:
    """Return the first of the responses beyond the limits of a broadcast."""
    message = (
        f"this response and those after it exceed {RESPONSES_LIMIT} responses or"
        f" {RESPONSES_BYTES_LIMIT} bytes in total; request fewer peers or capabilities"
    )
    return OmittedResponse(peer.card.peer_id, message)


def build_not_target_error(envelope: Envelope) -> EnvelopeError:
    message = f"{envelope.to} is not a known peer in this channel"
    return EnvelopeError(ReasonCode.NOT_TARGET, message, "$.to")


def build_response(
    request: Envelope,
    peer: Peer,
    documents: list[CapabilityDocument],
    catalog_request: CatalogRequest,
) -> Envelope:
    """Build a whois response; raise EnvelopeTooLarge if it exceeds the limit."""
    try:
        return build_envelope(
            MessageKind.WHOIS,
            EnvelopeHeader.for_reply(request, peer.card.peer_id),
            build_whois_response_body(peer.card),
            int(timezone.now().timestamp()),
            build_catalog_ext(documents, catalog_request),
        )
    except EnvelopeTooLarge as error:
        message = f"the response {error.message}; request fewer capabilities"
        raise EnvelopeTooLarge(ReasonCode.INTERNAL, message) from error


def build_transfer(peer: Peer, capability_id: str) -> Document | None:
    """Build an envelope that transfers a document and its stored relay members.

    Return None if the full document is not in the catalog. Raise EnvelopeTooLarge
    if the envelope exceeds the size limit.
    """
    record = peer.get_capability(capability_id)
    document = record.load_document() if record else None
    # Only the peer itself can prove a privilege.
    if record is None or document is None or document.id == PRIVILEGED_CAPABILITY:
        return None
    relay = record.get_relay_members()
    header = EnvelopeHeader(
        channel=peer.channel or DEFAULT_CHANNEL,
        sender=peer.card.peer_id,
        workspace_id=relay.pop("workspace_id", ""),
    )
    now = int(timezone.now().timestamp())
    body = build_transfer_body(document) | relay.pop("body", {})
    ext = relay.pop("ext", None)
    raw = build_raw_envelope(MessageKind.CAPABILITY, header, body, now, ext) | relay
    try:
        return Envelope.parse(raw, now).raw
    except EnvelopeTooLarge as error:
        message = f"the transfer {error.message}"
        raise EnvelopeTooLarge(ReasonCode.INTERNAL, message) from error

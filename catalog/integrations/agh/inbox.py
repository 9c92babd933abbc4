"""Process envelopes from peers: store their cards and documents in the catalog."""

import hashlib
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Sum
from django.db.models.functions import Length
from django.utils import timezone

from capabilities.documents import read_json
from capabilities.parsers import ParseError, parse
from capabilities.problems import Document, Problems, member_path
from capabilities.protocols.agh import (
    AGENTLENS_PEER_ID,
    BRIEF_KEY,
    CAPABILITY_PATH,
    CARD_PATH,
    CATALOG_KEY,
    FRESHNESS_SECONDS,
    GREET_TIMEOUT,
    AGHCapability,
    CapabilityBrief,
    CapabilityDocument,
    Envelope,
    EnvelopeError,
    EnvelopeTooLarge,
    PeerCard,
    ReasonCode,
    build_definition,
    build_endpoint,
    build_malformed_error,
    dump_compact_json,
    read_catalog,
    read_definition,
    require_proof,
)

from ...health import ProbeOutcome, record_probe
from ...ingestion import Definition, ProbeTiming, ingest, lock_agent
from ...models import CatalogEntry, compute_agent_key
from .directory import DOCUMENT_TEXT, PROTOCOL, find_entry, find_peer
from .models import Greeting, SeenEnvelope
from .responder import Responses, build_not_target_error, build_responses

# The maximum time for which an envelope is remembered, even if it expires later.
SEEN_LIMIT = timedelta(days=30)
# Limit in characters for all documents of a peer: several responses of maximum size.
PEER_DOCUMENTS_LIMIT = 8 * 1_048_576
CATALOG_ITEMS_PATH = member_path(member_path("$.ext", CATALOG_KEY), "capabilities")


def process_envelope(envelope: Envelope) -> Responses:
    """Store the card or document of an envelope; return responses to a whois request.

    Raise EnvelopeError if the envelope is rejected.
    """
    if envelope.sender == AGENTLENS_PEER_ID:
        raise build_malformed_error("must not be the ID of AgentLens", "$.from")
    if envelope.to and find_peer(envelope.to, envelope.channel) is None:
        raise build_not_target_error(envelope)
    with transaction.atomic():
        record_envelope(envelope)
        store_content(envelope)
    if not envelope.is_whois_request:
        return Responses()
    try:
        # Outside the transaction, because a broadcast reads a whole channel.
        return build_responses(envelope)
    except EnvelopeError:
        # The sender may repeat the request, for example for fewer capabilities.
        SeenEnvelope.objects.filter(key=get_envelope_key(envelope)).delete()
        raise


def store_content(envelope: Envelope) -> None:
    try:
        if envelope.card is not None:
            store_card(envelope, envelope.card)
        elif envelope.document is not None:
            store_transfer(envelope, envelope.document)
    except ParseError as error:
        # Only the card can fail here; documents are validated before.
        problem = error.result.errors[0]
        raise build_malformed_error(
            problem.message, CARD_PATH + problem.path[1:]
        ) from error


def store_card(envelope: Envelope, card: PeerCard) -> None:
    """Store the card, unless the peer has sent a newer one."""
    documents = read_catalog(envelope.ext) if envelope.is_whois_response else None
    capability_ids = (document.id for document in documents or ())
    require_proof(capability_ids, envelope.proof, CATALOG_ITEMS_PATH)
    capabilities = build_document_capabilities(documents or ())
    if "channel" in card.raw:
        raise build_malformed_error("is reserved by AgentLens", f"{CARD_PATH}.channel")
    lock_agent(
        compute_agent_key(PROTOCOL, build_endpoint(envelope.channel, envelope.sender))
    )
    existing = find_entry(envelope.channel, envelope.sender)
    check_documents_limit(existing, capabilities)
    # A timestamp in the future, from a fast clock, would make later ones seem older.
    sent_at = datetime.fromtimestamp(min(envelope.ts, int(time.time())), UTC)
    if existing and has_newer_greeting(existing, sent_at):
        record_presence(existing, sent_at)
        return
    if documents is not None:
        card = restore_narrowed_card(card, existing)
    definition = build_card_definition(envelope.channel, card, capabilities)
    entry = ingest(definition).entry
    Greeting.objects.update_or_create(entry=entry, defaults={"greeted_at": sent_at})
    record_presence(entry, sent_at)


def build_document_capabilities(
    documents: tuple[CapabilityDocument, ...],
) -> list[AGHCapability]:
    """Return the records of the documents in a peer's capability catalog.

    Raise EnvelopeError if one cannot be stored.
    """
    return [
        check_record(
            AGHCapability.from_document(document, path=f"{CATALOG_ITEMS_PATH}[{index}]")
        )
        for index, document in enumerate(documents)
    ]


def has_newer_greeting(entry: CatalogEntry, sent_at: datetime) -> bool:
    greeting: Greeting | None = getattr(entry, "greeting", None)
    return greeting is not None and greeting.greeted_at > sent_at


def restore_narrowed_card(card: PeerCard, entry: CatalogEntry | None) -> PeerCard:
    """Return the card with all stored capabilities if it lists only some of them.

    AGH's runtime reduces the card of a response to the requested capabilities.
    """
    if entry is None:
        return card
    definition = read_json(entry.agent_type.definition, Problems())
    _, stored = read_definition(definition, Problems())
    if not set(card.capabilities) < set(stored.capabilities):
        return card
    ext = card.ext
    if BRIEF_KEY in stored.ext:
        ext = {**ext, BRIEF_KEY: stored.ext[BRIEF_KEY]}
    restored = {"capabilities": list(stored.capabilities), "ext": ext}
    return PeerCard.parse({**card.raw, **restored}, Problems())


def record_envelope(envelope: Envelope) -> None:
    """Remember the envelope; raise EnvelopeError if it was received before."""
    try:
        with transaction.atomic():
            SeenEnvelope.objects.create(
                key=get_envelope_key(envelope), until=get_expiry(envelope)
            )
    except IntegrityError as error:
        message = "was already received"
        raise EnvelopeError(ReasonCode.DUPLICATE, message, "$.id") from error


def get_envelope_key(envelope: Envelope) -> str:
    name = f"{envelope.channel}\0{envelope.sender}\0{envelope.id}"
    return hashlib.sha256(name.encode()).hexdigest()


def get_expiry(envelope: Envelope) -> datetime:
    """Return the time until which duplicates of the envelope must be detected.

    A request changes nothing, so its `expires_at` does not matter.
    """
    last = envelope.ts + FRESHNESS_SECONDS
    if envelope.card is not None or envelope.document is not None:
        last = max(last, envelope.expires_at or 0)
    limit = timezone.now() + SEEN_LIMIT
    return limit if last >= limit.timestamp() else datetime.fromtimestamp(last, UTC)


def check_documents_limit(
    entry: CatalogEntry | None, capabilities: list[AGHCapability]
) -> None:
    """Raise EnvelopeTooLarge if the peer's documents would exceed the limit."""
    added = sum(len(capability.text or "") for capability in capabilities)
    if entry is None or not added:
        return
    replaced = [capability.name for capability in capabilities]
    other_capabilities = entry.agent_type.capabilities.exclude(name__in=replaced)
    stored = (
        other_capabilities.aggregate(total=Sum(Length(DOCUMENT_TEXT)))["total"] or 0
    )
    if stored + added > PEER_DOCUMENTS_LIMIT:
        message = (
            "would make the documents of this peer longer than"
            f" {PEER_DOCUMENTS_LIMIT} characters in total"
        )
        raise EnvelopeTooLarge(ReasonCode.INTERNAL, message)


def delete_expired_envelopes() -> None:
    SeenEnvelope.objects.filter(until__lt=timezone.now()).delete()


def record_presence(entry: CatalogEntry, sent_at: datetime) -> None:
    """Record that the peer was present when it sent the envelope."""
    now = timezone.now()
    is_recent = now - sent_at <= timedelta(seconds=FRESHNESS_SECONDS)
    announced_at = now if is_recent else sent_at
    valid_until = announced_at + timedelta(seconds=GREET_TIMEOUT)
    record_probe(
        entry, ProbeOutcome(now, announced_at=announced_at, valid_until=valid_until)
    )


def store_transfer(envelope: Envelope, document: CapabilityDocument) -> None:
    """Store a transferred document with the other members of its envelope."""
    capability = check_record(
        AGHCapability.from_document(
            document, collect_relay_members(envelope), CAPABILITY_PATH
        )
    )
    check_documents_limit(find_entry(envelope.channel, envelope.sender), [capability])
    brief = CapabilityBrief(document.id, document.summary)
    card = PeerCard(peer_id=envelope.sender).with_capabilities([brief])
    definition = build_card_definition(envelope.channel, card, [capability])
    # A transfer may be relayed by another peer, so it does not show presence.
    timing = ProbeTiming.ON_SCHEDULE
    ingest(replace(definition, is_partial=True, probe_timing=timing))


def collect_relay_members(envelope: Envelope) -> Document:
    """Return the members to pass on when AgentLens transfers the document."""
    body = {key: value for key, value in envelope.body.items() if key != "capability"}
    members = {
        "workspace_id": envelope.workspace_id,
        "body": body,
        "ext": envelope.ext,
    }
    present = {key: value for key, value in members.items() if value}
    return envelope.unknown_members | present


def check_record(record: AGHCapability) -> AGHCapability:
    """Return the record; raise EnvelopeError if it cannot be stored."""
    for message in record.validate():
        raise build_malformed_error(message, record.path)
    return record


def build_card_definition(
    channel: str, card: PeerCard, capabilities: list[AGHCapability]
) -> Definition:
    """Return the definition of a peer; the capabilities replace the card's briefs."""
    raw = dump_compact_json(build_definition(card, channel))
    record, _ = parse(raw, PROTOCOL)
    return Definition(record.with_updated_capabilities(capabilities), raw)

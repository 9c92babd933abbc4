"""What we keep of what peers say."""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from capabilities.documents import read_json
from capabilities.parsers import ParseError, parse
from capabilities.problems import Document, Problems, member
from capabilities.protocols.agh.bodies import CAPABILITY, CARD
from capabilities.protocols.agh.cards import (
    BRIEF,
    CATALOG,
    Brief,
    PeerCard,
    refuse_unproven,
)
from capabilities.protocols.agh.catalogs import read_catalog
from capabilities.protocols.agh.definitions import definition_of, read_definition
from capabilities.protocols.agh.documents import CapabilityDocument
from capabilities.protocols.agh.envelopes import REPLAY_AGE, Envelope
from capabilities.protocols.agh.identifiers import endpoint
from capabilities.protocols.agh.members import serialised
from capabilities.protocols.agh.parser import OURSELVES, AGHParser
from capabilities.protocols.agh.records import AGHCapability
from capabilities.protocols.agh.refusals import ReasonCode, Refusal, malformed

from ..health import Probe, record
from ..ingest import Definition, Outcome, ingest, wait_for_turn
from ..models import CatalogEntry, SeenEnvelope, agent_key
from .answering import answers, not_target
from .known import PROTOCOL, find_entry, find_peer

# However long an envelope says it holds.
SEEN_LIMIT = timedelta(days=30)
# Where the documents of a whois response stand.
LISTED = member(member("$.ext", CATALOG), "capabilities")


def take(envelope: Envelope) -> list[Envelope]:
    """Act on what a peer sent; what is said in return. Raises Refusal."""
    if envelope.sender == OURSELVES:
        raise malformed("must not be ours", "$.from")
    if envelope.to and find_peer(envelope.to, envelope.channel) is None:
        raise not_target(envelope)
    with transaction.atomic():
        refuse_duplicate(envelope)
        keep(envelope)
    # Looking through all of a channel, nobody else need wait for us.
    return list(answers(envelope)) if envelope.is_request else []


def keep(envelope: Envelope) -> None:
    try:
        if envelope.card is not None:
            keep_card(envelope, envelope.card)
        elif envelope.document is not None:
            keep_transfer(envelope, envelope.document)
    except ParseError as error:
        # Of a card by itself: what else an envelope holds is checked before.
        problem = error.reading.errors[0]
        raise malformed(problem.message, CARD + problem.path[1:]) from error


def keep_card(envelope: Envelope, card: PeerCard) -> None:
    """The peer as it says it is, unless it has said something later already."""
    told = read_catalog(envelope.ext) if envelope.is_response else None
    refuse_unproven((one.id for one in told or ()), envelope.proof, LISTED)
    fresh = [
        fit(AGHCapability.holding(one, path=f"{LISTED}[{n}]"))
        for n, one in enumerate(told or ())
    ]
    wait_for_turn(agent_key(PROTOCOL, endpoint(envelope.channel, envelope.sender)))
    known = find_entry(envelope.channel, envelope.sender)
    said_at = datetime.fromtimestamp(envelope.ts, UTC)
    if known and known.greeted_at and known.greeted_at > said_at:
        return
    if told is not None:
        card = widened(card, known)
    meet(envelope.channel, card, fresh, said_at)


def widened(card: PeerCard, entry: CatalogEntry | None) -> PeerCard:
    """The card with all that the one we know lists, if it lists more.

    AGH's runtime narrows it along with the catalog, to what it was asked for.
    """
    if entry is None:
        return card
    stored = read_json(entry.agent_type.definition, Problems())
    _, known = read_definition(stored, Problems())
    if not set(card.capabilities) < set(known.capabilities):
        return card
    told = {BRIEF: known.ext[BRIEF]} if BRIEF in known.ext else {}
    wider = {"capabilities": list(known.capabilities), "ext": {**card.ext, **told}}
    return PeerCard.read({**card.raw, **wider}, Problems())


def refuse_duplicate(envelope: Envelope) -> None:
    name = f"{envelope.channel}\0{envelope.sender}\0{envelope.id}"
    last = max(envelope.ts + REPLAY_AGE, envelope.expires_at or 0)
    limit = timezone.now() + SEEN_LIMIT
    until = limit if last >= limit.timestamp() else datetime.fromtimestamp(last, UTC)
    try:
        with transaction.atomic():
            key = hashlib.sha256(name.encode()).hexdigest()
            SeenEnvelope.objects.create(key=key, until=until)
    except IntegrityError as error:
        message = "was received already"
        raise Refusal(ReasonCode.DUPLICATE, message, "$.id") from error


def forget_seen() -> None:
    """Those too old to be taken again need not be remembered."""
    SeenEnvelope.objects.filter(until__lt=timezone.now()).delete()


def meet(
    channel: str, card: PeerCard, fresh: list[AGHCapability], said_at: datetime
) -> None:
    """Catalogue a peer by its card, and what documents it showed; it lives now."""
    entry = catalogue(channel, card, fresh).entry
    CatalogEntry.objects.filter(pk=entry.pk).update(greeted_at=said_at)
    now = timezone.now()
    holds_until = now + timedelta(seconds=AGHParser.presence)
    record(entry, Probe(now, holds_until=holds_until))


def keep_transfer(envelope: Envelope, document: CapabilityDocument) -> None:
    """Keep a document that was handed over, and what else the envelope carried."""
    fresh = fit(AGHCapability.holding(document, carried(envelope), CAPABILITY))
    card = introduced(envelope.sender, document)
    catalogue(envelope.channel, card, [fresh], introduces=True)


def carried(envelope: Envelope) -> Document:
    """What else came along, to be passed on; a workspace, too, that its peer names."""
    beside = {key: value for key, value in envelope.body.items() if key != "capability"}
    told = {"workspace_id": envelope.workspace_id, "body": beside, "ext": envelope.ext}
    return envelope.unknown | {key: value for key, value in told.items() if value}


def fit(record: AGHCapability) -> AGHCapability:
    """The record, if it may be stored; cards are checked as they are parsed."""
    for message in record.validate():
        raise malformed(message, record.path)
    return record


def introduced(peer_id: str, document: CapabilityDocument) -> PeerCard:
    """The card of one who has not greeted: all we know is what it sent."""
    return PeerCard(peer_id=peer_id).offering([Brief(document.id, document.summary)])


def catalogue(
    channel: str, card: PeerCard, fresh: list[AGHCapability], **how: Any
) -> Outcome:
    """By the card, with these documents where it only names them, or beside it."""
    raw = serialised(definition_of(card, channel))
    stated, _ = parse(raw, PROTOCOL)
    return ingest(Definition(stated.enriched(fresh), raw, **how))

"""What we keep of what peers say."""

import hashlib
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Sum
from django.db.models.functions import Length
from django.utils import timezone

from capabilities.documents import read_json
from capabilities.parsers import ParseError, parse
from capabilities.problems import Document, Problems, member
from capabilities.protocols.agh import (
    BRIEF,
    CAPABILITY,
    CARD,
    CATALOG,
    GREET_TIMEOUT,
    OURSELVES,
    REPLAY_AGE,
    AGHCapability,
    Brief,
    CapabilityDocument,
    Envelope,
    PeerCard,
    ReasonCode,
    Refusal,
    TooLarge,
    definition_of,
    endpoint,
    malformed,
    read_catalog,
    read_definition,
    refuse_unproven,
    serialised,
)

from ...health import Probe, record
from ...ingestion import Definition, Due, Outcome, ingest, wait_for_turn
from ...models import CatalogEntry, agent_key
from .directory import PROTOCOL, TEXT, find_entry, find_peer
from .models import Greeting, SeenEnvelope
from .responder import answers, not_target

# However long an envelope says it holds.
SEEN_LIMIT = timedelta(days=30)
# As much of one peer's documents is kept as a few whole answers hold.
HOARD_LIMIT = 8 * 1_048_576
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
    if not envelope.is_request:
        return []
    try:
        # Looking through all of a channel, nobody else need wait for us.
        return list(answers(envelope))
    except Refusal:
        # Whoever asks for less may ask so again.
        SeenEnvelope.objects.filter(key=key_of(envelope)).delete()
        raise


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
    if "channel" in card.raw:
        raise malformed("is a name that we keep for ourselves", f"{CARD}.channel")
    wait_for_turn(agent_key(PROTOCOL, endpoint(envelope.channel, envelope.sender)))
    known = find_entry(envelope.channel, envelope.sender)
    refuse_hoard(known, fresh)
    # Of a clock that is ahead, all that is honest would seem older.
    said_at = datetime.fromtimestamp(min(envelope.ts, int(time.time())), UTC)
    if known and is_older(said_at, known):
        hear(known, said_at)
        return
    if told is not None:
        card = widened(card, known)
    entry = catalogue(envelope.channel, card, fresh).entry
    Greeting.objects.update_or_create(entry=entry, defaults={"greeted_at": said_at})
    hear(entry, said_at)


def is_older(said_at: datetime, entry: CatalogEntry) -> bool:
    """Whether the peer has said something later already."""
    greeting: Greeting | None = getattr(entry, "greeting", None)
    return greeting is not None and greeting.greeted_at > said_at


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
    try:
        with transaction.atomic():
            until = remembered_until(envelope)
            SeenEnvelope.objects.create(key=key_of(envelope), until=until)
    except IntegrityError as error:
        message = "was received already"
        raise Refusal(ReasonCode.DUPLICATE, message, "$.id") from error


def key_of(envelope: Envelope) -> str:
    name = f"{envelope.channel}\0{envelope.sender}\0{envelope.id}"
    return hashlib.sha256(name.encode()).hexdigest()


def remembered_until(envelope: Envelope) -> datetime:
    """As long as it could come again and do something; to answer again does nothing."""
    last = envelope.ts + REPLAY_AGE
    if envelope.card is not None or envelope.document is not None:
        last = max(last, envelope.expires_at or 0)
    limit = timezone.now() + SEEN_LIMIT
    return limit if last >= limit.timestamp() else datetime.fromtimestamp(last, UTC)


def refuse_hoard(entry: CatalogEntry | None, fresh: list[AGHCapability]) -> None:
    """Refuse to keep more of one peer than all of it could ever be told."""
    added = sum(len(one.text or "") for one in fresh)
    if entry is None or not added:
        return
    others = entry.agent_type.capabilities.exclude(name__in=[one.name for one in fresh])
    held = others.aggregate(total=Sum(Length(TEXT)))["total"] or 0
    if held + added > HOARD_LIMIT:
        message = f"makes more than {HOARD_LIMIT} bytes of this peer's documents"
        raise TooLarge(ReasonCode.INTERNAL, message)


def forget_seen() -> None:
    """Those too old to be taken again need not be remembered."""
    SeenEnvelope.objects.filter(until__lt=timezone.now()).delete()


def hear(entry: CatalogEntry, said_at: datetime) -> None:
    """It lives now; or did, when it said what only now came here."""
    now = timezone.now()
    is_fresh = now - said_at <= timedelta(seconds=REPLAY_AGE)
    heard_at = now if is_fresh else said_at
    holds_until = heard_at + timedelta(seconds=GREET_TIMEOUT)
    record(entry, Probe(now, heard_at=heard_at, holds_until=holds_until))


def keep_transfer(envelope: Envelope, document: CapabilityDocument) -> None:
    """Keep a document that was handed over, and what else the envelope carried."""
    fresh = fit(AGHCapability.holding(document, carried(envelope), CAPABILITY))
    refuse_hoard(find_entry(envelope.channel, envelope.sender), [fresh])
    card = introduced(envelope.sender, document)
    # It may be passed on by another: that is no sign of life, and none of silence.
    how = {"introduces": True, "due": Due.AS_PLANNED}
    catalogue(envelope.channel, card, [fresh], **how)


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

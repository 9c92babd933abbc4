"""Which peers we know, and what of each."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from django.db.models import F, Q

from capabilities.documents import read_json
from capabilities.problems import Problems
from capabilities.protocols.agh.cards import PRIVILEGED, Brief, PeerCard
from capabilities.protocols.agh.definitions import read_definition
from capabilities.protocols.agh.documents import CapabilityDocument
from capabilities.protocols.agh.identifiers import PEER_ID, endpoint
from capabilities.protocols.agh.parser import OURSELVES
from capabilities.protocols.agh.records import AGHCapability
from capabilities.records import ANNOUNCED

from ..models import REACHABLE, CatalogEntry, Status, agent_key
from ..models.catalog_entry import CatalogEntryQuerySet

PROTOCOL = "agh"
# AgentLens itself, which offers nothing but to know the others.
AGENTLENS = PeerCard(peer_id=OURSELVES, display_name="AgentLens")
# As many peers are looked at in one go.
CHUNK = 500


@dataclass(frozen=True)
class Peer:
    """A peer we can answer for.

    Its card is what we say of it: the one it greeted with, and in it also what only
    a transfer brought; without a privilege, which only itself can prove.
    """

    channel: str
    card: PeerCard
    known: dict[str, AGHCapability] = field(default_factory=dict)

    @classmethod
    def of(cls, entry: CatalogEntry) -> "Peer":
        stored = read_json(entry.agent_type.definition, Problems())
        channel, card = read_definition(stored, Problems())
        known = {one.name: one for one in records_of(entry)}
        told = {brief.id: brief.summary for brief in card.brief()}
        order = dict.fromkeys([*card.capabilities, *sorted(known)])
        briefs = [
            Brief(name, told.get(name) or known[name].description)
            for name in order
            if name in known and name != PRIVILEGED
        ]
        return cls(channel, card.offering(briefs), known)

    @property
    def documents(self) -> list[CapabilityDocument]:
        """Those that are known in full, in the card's order."""
        found = (self.known[name].whole() for name in self.card.capabilities)
        return [document for document in found if document]


def records_of(entry: CatalogEntry) -> Iterator[AGHCapability]:
    for row in entry.agent_type.capabilities.all():
        if row.kind == AGHCapability.kind:
            yield AGHCapability.of(row.name, row.description, row.properties)


def find_entry(channel: str, peer_id: str) -> CatalogEntry | None:
    key = agent_key(PROTOCOL, endpoint(channel, peer_id))
    entries = CatalogEntry.objects.select_related("agent_type")
    return entries.filter(agent_key=key).first()


def find_peer(peer_id: str, channel: str = "") -> Peer | None:
    """In this channel, or where it was heard last; those of files are everywhere."""
    if peer_id == OURSELVES:
        return Peer(channel, AGENTLENS)
    # SQLite would find it in whatever case.
    if not PEER_ID.fullmatch(peer_id):
        return None
    if channel:
        entry = find_entry(channel, peer_id) or find_entry("", peer_id)
    else:
        heard = Q(agent_type__endpoint__endswith=f"/{peer_id}")
        from_files = Q(agent_type__endpoint=endpoint("", peer_id))
        named = everybody().filter(heard | from_files)
        latest = F("greeted_at").desc(nulls_last=True)
        entry = named.order_by(latest, "-validity_last_seen").first()
    if entry is None:
        return None
    peer = Peer.of(entry)
    return replace(peer, channel=peer.channel or channel)


def present(channel: str, query: str) -> Iterator[Peer]:
    """Who is in the channel and answers to the query; those of files always are."""
    heard = Q(agent_type__endpoint__startswith=endpoint(channel, ""))
    from_files = ~Q(agent_type__endpoint__startswith=ANNOUNCED)
    living = Q(status__in=[*REACHABLE, Status.UNKNOWN])
    entries = everybody().filter(heard | from_files, living).order_by("agent_key")
    found = entries.prefetch_related("agent_type__capabilities")
    for entry in found.iterator(chunk_size=CHUNK):
        if may_answer(entry, query):
            peer = Peer.of(entry)
            if peer.card.answers(query):
                yield peer
    if AGENTLENS.answers(query):
        yield Peer(channel, AGENTLENS)


def may_answer(entry: CatalogEntry, query: str) -> bool:
    """Whether a closer look is worth it; looking at all of many takes its time."""
    raw = entry.agent_type.definition
    told = query.encode() in raw or b"\\" in raw
    return told or any(one.name == query for one in records_of(entry))


def everybody() -> CatalogEntryQuerySet:
    entries = CatalogEntry.objects.select_related("agent_type")
    return entries.filter(agent_type__protocol=PROTOCOL)

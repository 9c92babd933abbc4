"""Which peers we know, and what of each."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from uuid import UUID

from django.db.models import F, Prefetch, Q
from django.db.models.fields.json import KeyTextTransform

from capabilities.documents import read_json
from capabilities.problems import Problems
from capabilities.protocols.agh import (
    ANNOUNCED,
    OURSELVES,
    PEER_ID,
    PRIVILEGED,
    AGHCapability,
    Brief,
    CapabilityDocument,
    CatalogRequest,
    PeerCard,
    endpoint,
    read_definition,
)

from ...models import (
    REACHABLE,
    Capability,
    CapabilityQuerySet,
    CatalogEntry,
    CatalogEntryQuerySet,
    Status,
    agent_key,
)

PROTOCOL = "agh"
# AgentLens itself, which offers nothing but to know the others.
AGENTLENS = PeerCard(peer_id=OURSELVES, display_name="AgentLens")
# As text: what is in it is JSON again, and would be taken for the value.
TEXT = KeyTextTransform("text", "properties")
# As many peers are looked at in one go: their cards and documents may be large.
CHUNK = 50
# More names than that are not asked for one by one.
NAMES_LIMIT = 500


@dataclass(frozen=True)
class Peer:
    """A peer we can answer for.

    Its card is what we say of it: the one it greeted with, and in it also what only
    a transfer brought, or files; without a privilege, which only itself can prove.
    """

    channel: str
    card: PeerCard
    # Its own, and beneath it that of its files: what is known in full is in them.
    agent_types: tuple[UUID, ...] = ()

    @classmethod
    def of(cls, entry: CatalogEntry, files: CatalogEntry | None = None) -> "Peer":
        stored = read_json(entry.agent_type.definition, Problems())
        channel, card = read_definition(stored, Problems())
        both = [one for one in (files, entry) if one]
        known = {name: told for one in both for name, told in summaries(one)}
        told = {brief.id: brief.summary for brief in card.brief()}
        order = dict.fromkeys([*card.capabilities, *sorted(known)])
        briefs = [
            Brief(name, told.get(name) or known[name])
            for name in order
            if name in known and name != PRIVILEGED
        ]
        types = tuple(one.agent_type_id for one in reversed(both))
        return cls(channel, card.offering(briefs), types)

    def names(self, asked: CatalogRequest) -> list[str]:
        """Of what is asked for, in the card's order."""
        return [name for name in self.card.capabilities if asked.selects(name)]

    def record(self, name: str) -> AGHCapability | None:
        """A capability that is known in full; what the peer said itself counts most."""
        rows = known_in_full([self]).filter(name=name)
        told = {row.agent_type_id: row for row in rows}
        found = next((told[one] for one in self.agent_types if one in told), None)
        return found and AGHCapability.of(name, found.description, found.properties)


def known_in_full(peers: list[Peer]) -> CapabilityQuerySet:
    owners = [owner for peer in peers for owner in peer.agent_types]
    rows = Capability.objects.filter(agent_type__in=owners, kind=AGHCapability.kind)
    return rows.filter(properties__has_key="text")


def with_documents(
    peers: Iterable[Peer], asked: CatalogRequest
) -> Iterator[tuple[Peer, list[CapabilityDocument]]]:
    """Each with those documents that are asked for; of some peers in one query."""
    waiting = iter(peers)
    while some := list(islice(waiting, CHUNK)):
        texts = texts_of(some, asked) if asked.wanted else {}
        for peer in some:
            yield peer, list(documents_of(peer, asked, texts))


def texts_of(peers: list[Peer], asked: CatalogRequest) -> dict[tuple[UUID, str], str]:
    """By owner and name; and nothing else of their rows, which are large."""
    names = {name for peer in peers for name in peer.names(asked)}
    rows = known_in_full(peers)
    if len(names) <= NAMES_LIMIT:
        rows = rows.filter(name__in=names)
    told = rows.values_list("agent_type", "name", TEXT)
    return {(owner, name): text for owner, name, text in told}


def documents_of(
    peer: Peer, asked: CatalogRequest, texts: dict[tuple[UUID, str], str]
) -> Iterator[CapabilityDocument]:
    for name in peer.names(asked):
        found = (texts.get((owner, name)) for owner in peer.agent_types)
        text = next(filter(None, found), None)
        if document := AGHCapability(name=name, text=text).whole():
            yield document


def summaries(entry: CatalogEntry) -> Iterator[tuple[str, str]]:
    for row in entry.agent_type.capabilities.all():
        if row.kind == AGHCapability.kind:
            yield row.name, row.description


def find_entry(channel: str, peer_id: str) -> CatalogEntry | None:
    key = agent_key(PROTOCOL, endpoint(channel, peer_id))
    entries = CatalogEntry.objects.select_related("agent_type", "greeting")
    return entries.filter(agent_key=key).first()


def find_peer(peer_id: str, channel: str = "") -> Peer | None:
    """In this channel, or where it was heard last; those of files are everywhere."""
    if peer_id == OURSELVES:
        return Peer(channel, AGENTLENS)
    # SQLite would find it in whatever case.
    if not PEER_ID.fullmatch(peer_id):
        return None
    files = everybody().filter(agent_type__endpoint=endpoint("", peer_id)).first()
    entry = last_heard(peer_id, channel)
    if entry is None:
        entry, files = files, None
    if entry is None:
        return None
    peer = Peer.of(entry, files)
    return replace(peer, channel=peer.channel or channel)


def last_heard(peer_id: str, channel: str) -> CatalogEntry | None:
    heard = Q(agent_type__endpoint__endswith=f"/{peer_id}")
    if channel:
        heard = Q(agent_type__endpoint=endpoint(channel, peer_id))
    latest = F("greeting__greeted_at").desc(nulls_last=True)
    named = everybody().filter(heard).order_by(latest, "-validity_last_seen")
    return named.first()


def present(channel: str, query: str) -> Iterator[Peer]:
    """Who is in the channel and answers to the query; those of files always are."""
    living = Q(status__in=[*REACHABLE, Status.UNKNOWN])
    others = everybody().filter(living).order_by("agent_key")
    heard = others.filter(agent_type__endpoint__startswith=endpoint(channel, ""))
    from_files = others.exclude(agent_type__endpoint__startswith=ANNOUNCED)
    files = {
        peer_id_of(entry): entry
        for entry in from_files.defer("agent_type__raw_definition")
    }
    for entry in heard.iterator(chunk_size=CHUNK):
        yield from answering(query, entry, files.pop(peer_id_of(entry), None))
    alone = from_files.filter(pk__in=[entry.pk for entry in files.values()])
    for entry in alone.iterator(chunk_size=CHUNK):
        yield from answering(query, entry)
    if AGENTLENS.answers(query):
        yield Peer(channel, AGENTLENS)


def peer_id_of(entry: CatalogEntry) -> str:
    """It has neither a slash nor a colon in it."""
    return entry.agent_type.endpoint.rpartition("/")[2].rpartition(":")[2]


def answering(
    query: str, entry: CatalogEntry, files: CatalogEntry | None = None
) -> Iterator[Peer]:
    """The peer, if it is meant; looking at all of many takes its time."""
    raw = entry.agent_type.definition
    both = [one for one in (entry, files) if one]
    named = any(name == query for one in both for name, _ in summaries(one))
    if named or query.encode() in raw or b"\\" in raw:
        peer = Peer.of(entry, files)
        if peer.card.answers(query):
            yield peer


def everybody() -> CatalogEntryQuerySet:
    """With what each offers by name; documents are large, and looked up when told."""
    names = Prefetch(
        "agent_type__capabilities", queryset=Capability.objects.defer("properties")
    )
    entries = CatalogEntry.objects.select_related("agent_type").prefetch_related(names)
    return entries.filter(agent_type__protocol=PROTOCOL)

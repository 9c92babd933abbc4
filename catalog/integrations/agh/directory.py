"""Find AGH peers and their capability documents in the catalog."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from uuid import UUID

from django.db.models import F, Prefetch, Q
from django.db.models.fields.json import KeyTextTransform

from capabilities.documents import read_json
from capabilities.problems import Problems
from capabilities.protocols.agh import (
    AGENTLENS_PEER_ID,
    ENDPOINT_SCHEME,
    PEER_ID_PATTERN,
    PRIVILEGED_CAPABILITY,
    AGHCapability,
    CapabilityBrief,
    CapabilityDocument,
    CatalogRequest,
    PeerCard,
    build_endpoint,
    read_definition,
)

from ...models import (
    REACHABLE_STATUSES,
    Capability,
    CapabilityQuerySet,
    CatalogEntry,
    CatalogEntryQuerySet,
    Status,
    compute_agent_key,
)

PROTOCOL = "agh"
AGENTLENS_CARD = PeerCard(peer_id=AGENTLENS_PEER_ID, display_name="AgentLens")
# The JSON text of a document; without the transform it would be parsed again.
DOCUMENT_TEXT = KeyTextTransform("text", "properties")
# Small, because the cards and documents of peers may be large.
PEER_BATCH_SIZE = 50
# With more names than this, all documents are read instead of filtering by name.
FILTERED_NAMES_LIMIT = 500


@dataclass(frozen=True)
class Peer:
    """A peer for which AgentLens sends responses.

    Its card lists the capabilities from its greeting, from transfers and from files,
    except a privileged one, which only the peer itself can prove.
    """

    channel: str
    card: PeerCard
    # The peer's own agent type first, then the one that was read from files.
    agent_type_ids: tuple[UUID, ...] = ()

    @classmethod
    def from_entries(
        cls, entry: CatalogEntry, files_entry: CatalogEntry | None = None
    ) -> "Peer":
        """Build a peer from its entry and the entry that was read from its files."""
        definition = read_json(entry.agent_type.definition, Problems())
        channel, card = read_definition(definition, Problems())
        entries = [entry, files_entry] if files_entry else [entry]
        descriptions = {
            name: description
            for each_entry in reversed(entries)
            for name, description in iter_descriptions(each_entry)
        }
        summaries = {brief.id: brief.summary for brief in card.briefs}
        ordered_names = dict.fromkeys([*card.capabilities, *sorted(descriptions)])
        briefs = [
            CapabilityBrief(name, summaries.get(name) or descriptions[name])
            for name in ordered_names
            if name in descriptions and name != PRIVILEGED_CAPABILITY
        ]
        agent_type_ids = tuple(each_entry.agent_type_id for each_entry in entries)
        return cls(channel, card.with_capabilities(briefs), agent_type_ids)

    def get_requested_names(self, request: CatalogRequest) -> list[str]:
        """Return the names of the requested capabilities, in card order."""
        return [name for name in self.card.capabilities if request.is_requested(name)]

    def get_capability(self, name: str) -> AGHCapability | None:
        """Return a capability with its document; announced ones come before files."""
        rows = get_capabilities_with_document([self]).filter(name=name)
        by_agent_type = {row.agent_type_id: row for row in rows}
        for agent_type_id in self.agent_type_ids:
            if row := by_agent_type.get(agent_type_id):
                return AGHCapability.from_stored(name, row.description, row.properties)
        return None


def get_capabilities_with_document(peers: list[Peer]) -> CapabilityQuerySet:
    agent_type_ids = [pk for peer in peers for pk in peer.agent_type_ids]
    rows = Capability.objects.filter(
        agent_type__in=agent_type_ids, kind=AGHCapability.kind
    )
    return rows.filter(properties__has_key="text")


def iter_peers_with_documents(
    peers: Iterable[Peer], request: CatalogRequest
) -> Iterator[tuple[Peer, list[CapabilityDocument]]]:
    """Yield each peer with its requested documents, with one query per batch."""
    iterator = iter(peers)
    while batch := list(islice(iterator, PEER_BATCH_SIZE)):
        texts = fetch_document_texts(batch, request)
        for peer in batch:
            yield peer, list(iter_documents(peer, request, texts))


def fetch_document_texts(
    peers: list[Peer], request: CatalogRequest
) -> dict[tuple[UUID, str], str]:
    """Return the requested documents as JSON text, by agent type ID and name."""
    if not request.include_documents:
        return {}
    names = {name for peer in peers for name in peer.get_requested_names(request)}
    rows = get_capabilities_with_document(peers)
    if len(names) <= FILTERED_NAMES_LIMIT:
        rows = rows.filter(name__in=names)
    values = rows.values_list("agent_type", "name", DOCUMENT_TEXT)
    return {(agent_type_id, name): text for agent_type_id, name, text in values}


def iter_documents(
    peer: Peer, request: CatalogRequest, texts: dict[tuple[UUID, str], str]
) -> Iterator[CapabilityDocument]:
    for name in peer.get_requested_names(request):
        candidates = (texts.get((pk, name)) for pk in peer.agent_type_ids)
        text = next(filter(None, candidates), None)
        if document := AGHCapability(name=name, text=text).load_document():
            yield document


def iter_descriptions(entry: CatalogEntry) -> Iterator[tuple[str, str]]:
    """Yield the name and the description of each AGH capability."""
    for capability in entry.agent_type.capabilities.all():
        if capability.kind == AGHCapability.kind:
            yield capability.name, capability.description


def find_entry(channel: str, peer_id: str) -> CatalogEntry | None:
    key = compute_agent_key(PROTOCOL, build_endpoint(channel, peer_id))
    entries = CatalogEntry.objects.select_related("agent_type", "greeting")
    return entries.filter(agent_key=key).first()


def find_peer(peer_id: str, channel: str = "") -> Peer | None:
    """Return the peer in a channel, by default the one of its latest greeting.

    Peers that are known only from files belong to every channel.
    """
    if peer_id == AGENTLENS_PEER_ID:
        return Peer(channel, AGENTLENS_CARD)
    # SQLite's LIKE ignores case, so IDs in upper case would match as well.
    if not PEER_ID_PATTERN.fullmatch(peer_id):
        return None
    files_endpoint = build_endpoint("", peer_id)
    files_entry = get_peer_entries().filter(agent_type__endpoint=files_endpoint).first()
    entry = find_latest_entry(peer_id, channel)
    if entry is not None:
        peer = Peer.from_entries(entry, files_entry)
    elif files_entry is not None:
        peer = Peer.from_entries(files_entry)
    else:
        return None
    return replace(peer, channel=peer.channel or channel)


def find_latest_entry(peer_id: str, channel: str) -> CatalogEntry | None:
    """Return the entry with the latest greeting of a peer, in one or any channel."""
    condition = Q(agent_type__endpoint__endswith=f"/{peer_id}")
    if channel:
        condition = Q(agent_type__endpoint=build_endpoint(channel, peer_id))
    latest_greeting = F("greeting__greeted_at").desc(nulls_last=True)
    entries = get_peer_entries().filter(condition)
    return entries.order_by(latest_greeting, "-validity_last_seen").first()


def iter_present_peers(channel: str, query: str) -> Iterator[Peer]:
    """Yield the present peers of a channel that match a whois query.

    Peers that are known only from files are present unless deprecated; AgentLens always
    is.
    """
    is_present = Q(status__in=[*REACHABLE_STATUSES, Status.UNKNOWN])
    entries = get_peer_entries().filter(is_present).order_by("agent_key")
    channel_prefix = build_endpoint(channel, "")
    in_channel = entries.filter(agent_type__endpoint__startswith=channel_prefix)
    from_files = entries.exclude(agent_type__endpoint__startswith=ENDPOINT_SCHEME)
    files_by_peer_id = {
        get_peer_id(entry): entry
        for entry in from_files.defer("agent_type__raw_definition")
    }
    for entry in in_channel.iterator(chunk_size=PEER_BATCH_SIZE):
        files_entry = files_by_peer_id.pop(get_peer_id(entry), None)
        if peer := find_matching_peer(query, entry, files_entry):
            yield peer
    remaining_ids = [entry.pk for entry in files_by_peer_id.values()]
    remaining = from_files.filter(pk__in=remaining_ids)
    for entry in remaining.iterator(chunk_size=PEER_BATCH_SIZE):
        if peer := find_matching_peer(query, entry):
            yield peer
    if AGENTLENS_CARD.matches_query(query):
        yield Peer(channel, AGENTLENS_CARD)


def get_peer_id(entry: CatalogEntry) -> str:
    """Return the last part of the endpoint; a peer ID has no slash and no colon."""
    return entry.agent_type.endpoint.rpartition("/")[2].rpartition(":")[2]


def find_matching_peer(
    query: str, entry: CatalogEntry, files_entry: CatalogEntry | None = None
) -> Peer | None:
    """Return the peer if it matches the query; only likely matches are parsed."""
    raw = entry.agent_type.definition
    entries = [entry, files_entry] if files_entry else [entry]
    is_capability_name = any(
        name == query
        for each_entry in entries
        for name, _ in iter_descriptions(each_entry)
    )
    # A backslash may begin an escape sequence that hides the query in the JSON text.
    if is_capability_name or query.encode() in raw or b"\\" in raw:
        peer = Peer.from_entries(entry, files_entry)
        if peer.card.matches_query(query):
            return peer
    return None


def get_peer_entries() -> CatalogEntryQuerySet:
    """Return AGH entries with the names of their capabilities, without documents."""
    capabilities = Prefetch(
        "agent_type__capabilities", queryset=Capability.objects.defer("properties")
    )
    entries = CatalogEntry.objects.select_related("agent_type")
    return entries.prefetch_related(capabilities).filter(agent_type__protocol=PROTOCOL)

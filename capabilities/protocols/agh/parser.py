"""AGH peers, read from the peer cards they greet with."""

import json
from collections.abc import Iterator

from ...connections import Connection, Way
from ...documents import place
from ...interfaces import PresencePolicy
from ...parsers import Parser
from ...problems import Document, Problems, member
from ...records import AgentRecord
from .bodies import request_body
from .cards import CATALOG, MEMBERS, PRIVILEGED, PeerCard, doubt_brief
from .catalogs import CatalogRequest
from .credentials import credentials
from .definitions import read_definition
from .envelopes import Heading, MessageKind, draft
from .identifiers import ANNOUNCED, PROTOCOL, endpoint
from .merging import DocumentMerger
from .records import KINDS, AGHCapability

# Stands for the moment of asking; an old one is refused.
SOME_TIME = 1776366060
# Stands for the channel of a peer that is only known from files.
LOCAL = "local"
# AgentLens itself.
OURSELVES = "agentlens"
# Twice the thirty seconds between two greets.
GREET_TIMEOUT = 60.0


class AGHParser(Parser):
    slug = "agh"
    label = "AGH"
    expects = "a peer card needs `peer_id`, `profiles_supported` and `capabilities`"
    kinds = KINDS
    presence_policy = PresencePolicy(timeout=GREET_TIMEOUT)
    capability_merger = DocumentMerger()
    places = {"$.name": "$.display_name", "$.protocolVersion": "$.profiles_supported"}

    def recognises(self, document: Document) -> bool:
        lists = ("profiles_supported", "capabilities")
        return "peer_id" in document and all(
            isinstance(document.get(key), list) for key in lists
        )

    def is_reachable(self, endpoint: str) -> bool:
        """Peers that are only known from files are not heard."""
        return endpoint.startswith(ANNOUNCED)

    def connection(self, document: Document, record: AgentRecord) -> Connection:
        channel, card = read_definition(document, Problems())
        where = f"in channel {channel}" if channel else "in any channel"
        return Connection(
            ways=[Way(record.endpoint, f"{PROTOCOL} {where}")],
            title="Ask for its whole catalog",
            note="POST this to /api/v1/agh/envelopes, with a new id, your own peer id"
            " in from, and the time in ts.",
            snippet=whois(channel or LOCAL, card.peer_id),
        )

    def parse(self, document: Document, problems: Problems) -> AgentRecord:
        problems.unknown(document, {*MEMBERS, "channel"})
        channel, card = read_definition(document, problems)
        if card.peer_id == OURSELVES:
            problems.error("$.peer_id", "is AgentLens itself")
        for steps in credentials(card.raw, ()):
            problems.error(place(steps), "looks like a secret, and is not taken")
        doubt(card, problems)
        return AgentRecord(
            protocol=self.slug,
            endpoint=endpoint(channel, card.peer_id),
            name=card.display_name or card.peer_id,
            spec_version=read_spec_version(card),
            capabilities=tuple(read_capabilities(card, problems)),
        )


def read_spec_version(card: PeerCard) -> str:
    profiles = card.profiles_supported
    return PROTOCOL if PROTOCOL in profiles else next(iter(profiles), "")


def doubt(card: PeerCard, problems: Problems) -> None:
    """Tell what is odd about a card that is valid."""
    doubt_brief(card, problems)
    if CATALOG in card.ext:
        misplaced = member("$.ext", CATALOG)
        problems.warning(misplaced, "belongs into an envelope, never a card; ignored")
    if PRIVILEGED in card.capabilities:
        message = f"claims {PRIVILEGED}, which peers take only with a proof"
        problems.warning("$.capabilities", message)


def read_capabilities(card: PeerCard, problems: Problems) -> Iterator[AGHCapability]:
    """Each id once, with its summary."""
    taken = set[str]()
    for n, brief in enumerate(card.brief()):
        path = f"$.capabilities[{n}]"
        if brief.id in taken:
            problems.warning(path, f"{brief.id!r} is listed already; kept once")
            continue
        taken.add(brief.id)
        yield AGHCapability(name=brief.id, description=brief.summary, path=path)


def whois(channel: str, peer_id: str) -> str:
    """A request for the whole catalog of a peer, to copy."""
    heading = Heading(
        channel=channel, sender="your-peer-id", to=peer_id, id="msg_whois_1"
    )
    ext = CatalogRequest(wanted=True).to_ext()
    envelope = draft(MessageKind.WHOIS, heading, request_body(), SOME_TIME, ext)
    return json.dumps(envelope, indent=2, ensure_ascii=False)

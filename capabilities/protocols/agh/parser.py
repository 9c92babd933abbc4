"""The parser for AGH peers, whose definitions are peer cards."""

import time
from collections.abc import Iterator

from ...connections import Connection, ConnectionOption, Endpoint, Snippet, dump_snippet
from ...documents import json_path
from ...interfaces import PresencePolicy
from ...parsers import Parser
from ...problems import Document, Problems, member_path
from ...records import AgentRecord
from .bodies import build_whois_request_body
from .cards import (
    CATALOG_KEY,
    PEER_CARD_MEMBERS,
    PRIVILEGED_CAPABILITY,
    PeerCard,
    warn_brief_mismatch,
    warn_unknown_brief_members,
)
from .catalogs import CatalogRequest
from .credentials import find_credentials
from .definitions import (
    CATALOG_MEMBERS,
    is_catalog,
    read_catalog_documents,
    read_definition,
)
from .envelopes import EnvelopeHeader, MessageKind, build_raw_envelope
from .identifiers import ENDPOINT_SCHEME, PROTOCOL_VERSION, build_endpoint
from .merging import DocumentMerger
from .records import KINDS, AGHCapability

# Seconds for which an example envelope can be sent after it was displayed.
EXAMPLE_LIFETIME = 3600
# The channel in envelopes of peers that were read from files.
DEFAULT_CHANNEL = "local"
AGENTLENS_PEER_ID = "agentlens"
# Peers greet every 30 seconds and expire after two missed greets.
GREET_TIMEOUT = 60.0


class AGHParser(Parser):
    slug = "agh"
    label = "AGH"
    kinds = KINDS
    presence_policy = PresencePolicy(timeout=GREET_TIMEOUT)
    capability_merger = DocumentMerger()
    reported_paths = {
        "$.name": "$.display_name",
        "$.protocolVersion": "$.profiles_supported",
    }

    def recognizes(self, document: Document) -> bool:
        """Return whether the document is a peer card or a capability catalog."""
        lists = ("profiles_supported", "capabilities")
        is_card = "peer_id" in document and all(
            isinstance(document.get(key), list) for key in lists
        )
        return is_card or is_catalog(document)

    def can_be_probed(self, endpoint: str) -> bool:
        """Return whether the peer announces itself; peers from files never greet."""
        return endpoint.startswith(ENDPOINT_SCHEME)

    def build_connection(self, document: Document, record: AgentRecord) -> Connection:
        channel, card = read_definition(document, Problems())
        scope = f"in channel {channel}" if channel else "in any channel"
        return Connection(
            endpoints=[Endpoint(record.endpoint, f"{PROTOCOL_VERSION} {scope}")],
            options=[build_whois_option(channel or DEFAULT_CHANNEL, card.peer_id)],
        )

    def parse(self, document: Document, problems: Problems) -> AgentRecord:
        known_members = {*PEER_CARD_MEMBERS, "channel"}
        if is_catalog(document):
            known_members = set(CATALOG_MEMBERS)
        problems.warn_unknown(document, known_members)
        channel, card = read_definition(document, problems)
        if card.peer_id == AGENTLENS_PEER_ID:
            problems.error("$.peer_id", "is reserved for AgentLens itself")
        for keys in find_credentials(document, ()):
            message = "looks like a credential; cards must not contain credentials"
            problems.error(json_path(keys), message)
        add_card_warnings(card, problems)
        return AgentRecord(
            protocol=self.slug,
            endpoint=build_endpoint(channel, card.peer_id),
            name=card.display_name or card.peer_id,
            spec_version=get_spec_version(card),
            capabilities=tuple(
                read_catalog_capabilities(document, problems)
                if is_catalog(document)
                else read_capabilities(card, problems)
            ),
        )


def get_spec_version(card: PeerCard) -> str:
    profiles = card.profiles_supported
    return (
        PROTOCOL_VERSION if PROTOCOL_VERSION in profiles else next(iter(profiles), "")
    )


def add_card_warnings(card: PeerCard, problems: Problems) -> None:
    """Add warnings for problems that do not make the card invalid."""
    warn_brief_mismatch(card, problems)
    warn_unknown_brief_members(card, problems)
    if CATALOG_KEY in card.ext:
        message = "belongs in the ext of an envelope, not of a card; ignored"
        problems.warning(member_path("$.ext", CATALOG_KEY), message)
    if PRIVILEGED_CAPABILITY in card.capabilities:
        message = (
            f"contains {PRIVILEGED_CAPABILITY}, which peers accept only with a proof"
        )
        problems.warning("$.capabilities", message)


def read_capabilities(card: PeerCard, problems: Problems) -> Iterator[AGHCapability]:
    """Yield one capability per ID, with its summary as description."""
    seen_ids = set[str]()
    for n, brief in enumerate(card.briefs):
        path = f"$.capabilities[{n}]"
        if brief.id in seen_ids:
            message = f"should be unique; {brief.id!r} is already listed; ignored"
            problems.warning(path, message)
            continue
        seen_ids.add(brief.id)
        yield AGHCapability(name=brief.id, description=brief.summary, path=path)


def read_catalog_capabilities(
    document: Document, problems: Problems
) -> Iterator[AGHCapability]:
    """Yield the capabilities of a catalog, with their documents."""
    seen_ids = set[str]()
    for path, capability_document in read_catalog_documents(document, problems):
        if capability_document.id in seen_ids:
            message = f"must be unique; {capability_document.id!r} is already listed"
            problems.error(member_path(path, "id"), message)
        seen_ids.add(capability_document.id)
        yield AGHCapability.from_document(capability_document, path=path)


def build_whois_option(channel: str, peer_id: str) -> ConnectionOption:
    """Return the request for the peer's full catalog; it is valid for an hour."""
    snippet = Snippet(
        title="Envelope",
        text=dump_snippet(build_whois_example(channel, peer_id, int(time.time()))),
        language="json",
        note="POST this envelope to /api/v1/agh/envelopes within an hour. Set `from` to"
        " your own peer ID. Reload the page for a new envelope.",
    )
    return ConnectionOption("Request the full catalog of the peer", [snippet])


def build_whois_example(channel: str, peer_id: str, ts: int) -> Document:
    """Return a whois request for the peer's full catalog."""
    header = EnvelopeHeader(channel=channel, sender="your-peer-id", to=peer_id)
    ext = CatalogRequest(include_documents=True).to_ext()
    body = build_whois_request_body()
    envelope = build_raw_envelope(MessageKind.WHOIS, header, body, ts, ext)
    return envelope | {"expires_at": ts + EXAMPLE_LIFETIME}

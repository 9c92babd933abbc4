"""Peer cards: who a peer is, and the capabilities it claims to offer."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from ...problems import Document, Problems, member_path
from .documents import read_list, read_text
from .errors import EnvelopeError, ReasonCode
from .identifiers import PEER_ID_PATTERN, PROTOCOL_VERSION, normalize_text

BRIEF_KEY = "agh.capabilities_brief"
CATALOG_KEY = "agh.capability_catalog"
CARD_LIST_MEMBERS = (
    "profiles_supported",
    "capabilities",
    "artifacts_supported",
    "trust_modes_supported",
)
PEER_CARD_MEMBERS = ("peer_id", "display_name", *CARD_LIST_MEMBERS, "ext")
# It allows changing the tasks of other peers, so claiming it requires a proof.
PRIVILEGED_CAPABILITY = "task.write"


class CapabilityBrief(NamedTuple):
    """The ID and summary of a capability, as a peer card claims it."""

    id: str
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerCard:
    """A peer card with normalized lists; `raw` is the complete received object."""

    peer_id: str
    display_name: str = ""
    profiles_supported: tuple[str, ...] = (PROTOCOL_VERSION,)
    capabilities: tuple[str, ...] = ()
    artifacts_supported: tuple[str, ...] = ("capability",)
    trust_modes_supported: tuple[str, ...] = ("unverified",)
    ext: Document = field(default_factory=dict)
    raw: Document = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def parse(cls, value: Any, problems: Problems, path: str = "$") -> Self:
        """Parse a JSON value; the card is valid only if `problems` has no errors."""
        if not isinstance(value, dict):
            problems.error(path, "must be an object")
            value = {}
        return cls(
            peer_id=read_peer_id(value, problems, path),
            display_name=read_display_name(value, problems, path),
            **{
                key: read_required_list(value, key, problems, path)
                for key in CARD_LIST_MEMBERS
            },
            ext=read_ext(value, problems, path),
            raw=value,
        )

    @property
    def unknown_members(self) -> Document:
        """Members of newer protocol revisions, which are always passed on."""
        return {key: self.raw[key] for key in self.raw if key not in PEER_CARD_MEMBERS}

    @property
    def briefs(self) -> list[CapabilityBrief]:
        """One brief per capability, in card order; the summary may be empty."""
        summaries = get_brief_summaries(self.ext)
        return [
            CapabilityBrief(capability_id, summaries.get(capability_id, ""))
            for capability_id in self.capabilities
        ]

    def with_capabilities(self, briefs: Iterable[CapabilityBrief]) -> Self:
        """Return a copy that lists these capabilities and their briefs."""
        normalized = [
            CapabilityBrief(normalize_text(brief.id), normalize_text(brief.summary))
            for brief in briefs
        ]
        ids = tuple(brief.id for brief in normalized)
        if not normalized:
            ext = {key: self.ext[key] for key in self.ext if key != BRIEF_KEY}
            return replace(self, capabilities=ids, ext=ext)
        # Keep unknown members of existing items, and the position of the brief in ext.
        existing = get_brief_items_by_id(self.ext)
        items = [
            {**existing.get(brief.id, {}), **brief._asdict()} for brief in normalized
        ]
        return replace(self, capabilities=ids, ext={**self.ext, BRIEF_KEY: items})

    def to_wire(self) -> Document:
        """Return the card to send: including empty lists, without a catalog in ext."""
        omitted = {CATALOG_KEY} if self.capabilities else {CATALOG_KEY, BRIEF_KEY}
        ext = {key: self.ext[key] for key in self.ext if key not in omitted}
        return {
            "peer_id": self.peer_id,
            **({"display_name": self.display_name} if self.display_name else {}),
            **{key: list(getattr(self, key)) for key in CARD_LIST_MEMBERS},
            **({"ext": ext} if ext else {}),
            **self.unknown_members,
        }

    def matches_query(self, query: str) -> bool:
        """Return whether a broadcast whois query is empty or equals a card value."""
        term = normalize_text(query)
        listed = (item for key in CARD_LIST_MEMBERS for item in getattr(self, key))
        return not term or term in {self.peer_id, self.display_name, *listed}


def require_proof(
    capability_ids: Iterable[str], proof: Document | None, path: str
) -> None:
    """Raise EnvelopeError if the privileged capability is claimed without a proof."""
    if PRIVILEGED_CAPABILITY in capability_ids and not proof:
        message = f"{PRIVILEGED_CAPABILITY} requires a proof"
        raise EnvelopeError(ReasonCode.VERIFICATION_FAILED, message, path)


def read_peer_id(card: Document, problems: Problems, path: str) -> str:
    value = card.get("peer_id")
    peer_id = normalize_text(value) if isinstance(value, str) else ""
    if not PEER_ID_PATTERN.fullmatch(peer_id):
        message = f"must be a string that matches {PEER_ID_PATTERN.pattern}"
        problems.error(member_path(path, "peer_id"), message)
    return peer_id


def read_display_name(card: Document, problems: Problems, path: str) -> str:
    """Return the display name as it was received, or '' if it is blank."""
    has_name = bool(read_text(card, "display_name", problems, path))
    return str(card["display_name"]) if has_name else ""


def read_required_list(
    card: Document, key: str, problems: Problems, path: str
) -> tuple[str, ...]:
    """Return a list that may be empty but must be present and not null."""
    if card.get(key) is None:
        message = "must be a list of strings (it may be empty)"
        problems.error(member_path(path, key), message)
    return read_list(card, key, problems, path)


def read_ext(card: Document, problems: Problems, path: str) -> Document:
    ext = card.get("ext")
    if ext is None or isinstance(ext, dict):
        return ext or {}
    problems.error(member_path(path, "ext"), "must be an object")
    return {}


def get_brief_summaries(ext: Document) -> dict[str, str]:
    """Return the summary of each capability ID; malformed items are skipped."""
    summaries: dict[str, str] = {}
    for brief in filter(None, map(parse_brief, get_brief_items(ext) or ())):
        summaries.setdefault(brief.id, brief.summary)
    return summaries


def get_brief_items(ext: Document) -> list[Any] | None:
    items = ext.get(BRIEF_KEY)
    return items if isinstance(items, list) else None


def get_brief_items_by_id(ext: Document) -> dict[str, Document]:
    """Return the raw brief items, with all their members, by capability ID."""
    items = get_brief_items(ext) or []
    return {brief.id: item for item in items if (brief := parse_brief(item))}


def parse_brief(item: Any) -> CapabilityBrief | None:
    if not isinstance(item, dict) or not isinstance(item.get("id"), str):
        return None
    summary = item.get("summary")
    return CapabilityBrief(
        normalize_text(item["id"]),
        normalize_text(summary) if isinstance(summary, str) else "",
    )


def warn_brief_mismatch(card: PeerCard, problems: Problems, path: str = "$") -> None:
    """Add a warning if the brief does not match the capabilities item by item."""
    brief_path = member_path(member_path(path, "ext"), BRIEF_KEY)
    items = get_brief_items(card.ext)
    if BRIEF_KEY in card.ext and items is None:
        message = "should be a list of objects with id and summary; ignored"
        problems.warning(brief_path, message)
    elif items is not None and not is_brief_complete(card, items):
        message = (
            "should list the capabilities of the card in the same order, each with a"
            " summary"
        )
        problems.warning(brief_path, message)


def warn_unknown_brief_members(card: PeerCard, problems: Problems) -> None:
    """Add a warning for each member of a brief item besides its ID and summary."""
    brief_path = member_path("$.ext", BRIEF_KEY)
    for n, item in enumerate(get_brief_items(card.ext) or ()):
        if isinstance(item, dict):
            problems.warn_unknown(item, CapabilityBrief._fields, f"{brief_path}[{n}]")


def is_brief_complete(card: PeerCard, items: list[Any]) -> bool:
    """Return whether the items match the card's capabilities and have a summary."""
    return [parse_brief(item) for item in items] == card.briefs and all(
        isinstance(item.get("summary"), str) for item in items
    )

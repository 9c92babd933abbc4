"""Peer cards: who a peer is, and the brief of what it claims to offer."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from ...problems import Document, Problems, member
from .documents import read_list, read_text
from .identifiers import PEER_ID, PROTOCOL, trimmed
from .refusals import ReasonCode, Refusal

BRIEF = "agh.capabilities_brief"
CATALOG = "agh.capability_catalog"
LISTS = (
    "profiles_supported",
    "capabilities",
    "artifacts_supported",
    "trust_modes_supported",
)
MEMBERS = ("peer_id", "display_name", *LISTS, "ext")
# Whoever claims it may change other peers' tasks, and must prove who it is.
PRIVILEGED = "task.write"


class Brief(NamedTuple):
    """A capability in one line; a claim, not a proof."""

    id: str
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerCard:
    """A card, its lists trimmed; `raw` is what was received, to the last member."""

    peer_id: str
    display_name: str = ""
    profiles_supported: tuple[str, ...] = (PROTOCOL,)
    capabilities: tuple[str, ...] = ()
    artifacts_supported: tuple[str, ...] = ("capability",)
    trust_modes_supported: tuple[str, ...] = ("unverified",)
    ext: Document = field(default_factory=dict)
    raw: Document = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def read(cls, stated: Any, problems: Problems, at: str = "$") -> Self:
        """What it says; it holds only when `problems` has no errors after it."""
        if not isinstance(stated, dict):
            problems.error(at, "must be an object")
            stated = {}
        return cls(
            peer_id=read_peer_id(stated, problems, at),
            display_name=read_display_name(stated, problems, at),
            **{key: read_array(stated, key, problems, at) for key in LISTS},
            ext=read_ext(stated, problems, at),
            raw=stated,
        )

    @property
    def unknown(self) -> Document:
        """Members of newer revisions, always passed on."""
        return {key: self.raw[key] for key in self.raw if key not in MEMBERS}

    def brief(self) -> list[Brief]:
        """One for each capability, in order; without a summary where none is told."""
        told = summaries(self.ext)
        return [Brief(each, told.get(each, "")) for each in self.capabilities]

    def offering(self, brief: Iterable[Brief]) -> Self:
        """The card of a peer with this catalog, in both of the places that tell it."""
        listed = [Brief(trimmed(each.id), trimmed(each.summary)) for each in brief]
        ids = tuple(each.id for each in listed)
        if not listed:
            others = {key: self.ext[key] for key in self.ext if key != BRIEF}
            return replace(self, capabilities=ids, ext=others)
        # What else newer revisions say of one stays with it, and all in its place.
        stated = stated_briefs(self.ext)
        told = [{**stated.get(each.id, {}), **each._asdict()} for each in listed]
        return replace(self, capabilities=ids, ext={**self.ext, BRIEF: told})

    def to_wire(self) -> Document:
        """As it is sent: lists even when empty, and never a catalog inside."""
        hidden = {CATALOG} if self.capabilities else {CATALOG, BRIEF}
        ext = {key: self.ext[key] for key in self.ext if key not in hidden}
        return {
            "peer_id": self.peer_id,
            **({"display_name": self.display_name} if self.display_name else {}),
            **{key: list(getattr(self, key)) for key in LISTS},
            **({"ext": ext} if ext else {}),
            **self.unknown,
        }

    def answers(self, query: str) -> bool:
        """Whether a broadcast whois means this peer: by the very word, or by none."""
        wanted = trimmed(query)
        listed = (word for key in LISTS for word in getattr(self, key))
        words = {self.peer_id, self.display_name, *listed}
        return not wanted or wanted in words


def refuse_unproven(claimed: Iterable[str], proof: Document | None, at: str) -> None:
    """Refuse a privilege that is claimed in a message without a proof."""
    if PRIVILEGED in claimed and not proof:
        message = f"{PRIVILEGED} is only taken with a proof"
        raise Refusal(ReasonCode.VERIFICATION_FAILED, message, at)


def read_peer_id(stated: Document, problems: Problems, at: str) -> str:
    value = stated.get("peer_id")
    peer_id = trimmed(value) if isinstance(value, str) else ""
    if not PEER_ID.fullmatch(peer_id):
        message = f"must be a string that matches {PEER_ID.pattern}"
        problems.error(member(at, "peer_id"), message)
    return peer_id


def read_display_name(stated: Document, problems: Problems, at: str) -> str:
    """As it was written, unless it is blank: then there is none."""
    is_told = bool(read_text(stated, "display_name", problems, at))
    return str(stated["display_name"]) if is_told else ""


def read_array(
    stated: Document, key: str, problems: Problems, at: str
) -> tuple[str, ...]:
    """A list that may be empty, but neither null nor missing."""
    if stated.get(key) is None:
        problems.error(member(at, key), "must be a list of strings, perhaps empty")
    return read_list(stated, key, problems, at)


def read_ext(stated: Document, problems: Problems, at: str) -> Document:
    ext = stated.get("ext")
    if ext is None or isinstance(ext, dict):
        return ext or {}
    problems.error(member(at, "ext"), "must be an object")
    return {}


def summaries(ext: Document) -> dict[str, str]:
    """What a brief tells of each id, however malformed: it is advice, no more."""
    told: dict[str, str] = {}
    for brief in filter(None, map(read_brief, listed_briefs(ext) or ())):
        told.setdefault(brief.id, brief.summary)
    return told


def listed_briefs(ext: Document) -> list[Any] | None:
    listed = ext.get(BRIEF)
    return listed if isinstance(listed, list) else None


def stated_briefs(ext: Document) -> dict[str, Document]:
    """By id, what is told of each, to the last member."""
    listed = listed_briefs(ext) or []
    return {brief.id: one for one in listed if (brief := read_brief(one))}


def read_brief(stated: Any) -> Brief | None:
    if not isinstance(stated, dict) or not isinstance(stated.get("id"), str):
        return None
    summary = stated.get("summary")
    told = trimmed(summary) if isinstance(summary, str) else ""
    return Brief(trimmed(stated["id"]), told)


def doubt_brief(card: PeerCard, problems: Problems, at: str = "$") -> None:
    """Warn where the brief does not match the capabilities entry by entry."""
    place = member(member(at, "ext"), BRIEF)
    listed = listed_briefs(card.ext)
    if BRIEF in card.ext and listed is None:
        problems.warning(place, "should be a list of ids and summaries; ignored")
    elif listed is not None and not matches(card, listed):
        problems.warning(place, "should match the capabilities, entry by entry")


def matches(card: PeerCard, listed: list[Any]) -> bool:
    told = [read_brief(each) for each in listed]
    return told == card.brief() and all(
        isinstance(each.get("summary"), str) for each in listed
    )

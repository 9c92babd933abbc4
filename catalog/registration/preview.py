"""Registering by hand: give a URL or a definition, look at it, then say yes."""

import base64
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.core import signing

from capabilities.parsers import Reading, examine, parse
from capabilities.problems import Problem

from ..discovery import ResolvedDefinition
from ..ingestion import Outcome, Result, foreseen
from ..models import CatalogEntry
from ..outbound import Fetched
from .service import find, find_again, import_found, register

SALT = "catalog.review"
# A look may be taken over a day; after that the definition may have moved on.
MAX_AGE = 24 * 3600
TOLD = {
    Result.CREATED: "“{}” is now in the catalog.",
    Result.UPDATED: "“{}” was brought up to date.",
    Result.UNCHANGED: "“{}” is in the catalog already, word for word.",
}


class Expired(Exception):
    """What came back is not, or no longer, what we gave out."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A definition under review; it travels signed through the browser and back."""

    raw: str
    protocol: str
    url: str = ""
    etag: str = ""
    # Where the agent is, for definitions that do not say.
    endpoint: str = ""
    # Why it does not say all, if it does not.
    problem: str = ""
    # Whether an `Authorization` was shown to whoever told it.
    authorized: bool = False
    # When the entry that it was fetched again for had been seen last.
    as_of: str = ""

    @classmethod
    def of(cls, raw: bytes, protocol: str, **known: Any) -> "Candidate":
        return cls(base64.b64encode(raw).decode(), protocol, **known)

    @classmethod
    def found(cls, found: ResolvedDefinition, as_of: str = "") -> "Candidate":
        fetched, record = found.fetched, found.record
        return cls.of(
            fetched.body,
            record.protocol,
            url=fetched.url,
            etag=fetched.etag,
            endpoint=record.endpoint,
            problem=found.problem,
            authorized=found.authorized,
            as_of=as_of,
        )

    @property
    def definition(self) -> bytes:
        return base64.b64decode(self.raw)

    def sealed(self) -> str:
        return signing.dumps(asdict(self), salt=SALT, compress=True)

    @classmethod
    def unsealed(cls, text: str) -> "Candidate":
        try:
            return cls(**signing.loads(text, salt=SALT, max_age=MAX_AGE))
        except signing.BadSignature as error:
            raise Expired from error


@dataclass(frozen=True, slots=True)
class Review:
    """What a definition says; sealed for registering when nothing is wrong with it."""

    reading: Reading
    sealed: str = ""


def look_at(raw: bytes, protocol: str = "", endpoint: str = "") -> Review:
    """What would be catalogued, or every reason why not."""
    return reviewed(Candidate.of(raw, protocol, endpoint=endpoint))


def look_at_url(url: str, *how: str) -> Review:
    """The same for what is found at a URL; takes and raises what `find` does."""
    return reviewed(Candidate.found(find(url, *how)))


@dataclass(frozen=True, slots=True)
class SecondLook:
    """What a refresh would change; sealed for doing so."""

    outcome: Outcome
    sealed: str
    problem: str


def look_again(entry: CatalogEntry, authorization: str = "") -> SecondLook:
    found = find_again(entry, authorization)
    outcome = foreseen(entry, found.definition)
    candidate = Candidate.found(found, entry.validity_last_seen.isoformat())
    return SecondLook(outcome, candidate.sealed(), found.problem)


def reviewed(candidate: Candidate) -> Review:
    reading = examine(candidate.definition, candidate.protocol, candidate.endpoint)
    if candidate.problem:
        reading.warnings.insert(0, Problem("$", candidate.problem))
    return Review(reading, candidate.sealed() if reading.valid else "")


def accept(sealed: str, refreshes: CatalogEntry | None = None) -> tuple[Outcome, str]:
    """Register what was looked at; the outcome, and how to tell it to people."""
    candidate = Candidate.unsealed(sealed)
    if refreshes is not None and not candidate.as_of:
        raise Expired
    raw, endpoint = candidate.definition, candidate.endpoint
    if candidate.url:
        fetched = Fetched(candidate.url, raw, candidate.etag)
        read = parse(raw, candidate.protocol, endpoint)
        found = ResolvedDefinition(
            fetched, *read, candidate.problem, candidate.authorized
        )
        if refreshes is not None:
            refreshes.validity_last_seen = datetime.fromisoformat(candidate.as_of)
        outcome = import_found(found, refreshes)
    else:
        outcome = register(raw, candidate.protocol, endpoint=endpoint)
    return outcome, TOLD[outcome.result].format(outcome.entry)

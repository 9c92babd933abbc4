"""Registering by hand: give a URL or a definition, look at it, then say yes."""

import base64
from dataclasses import asdict, dataclass

from django.core import signing

from capabilities.parsers import Reading, examine, parse

from .ingest import Definition, Outcome, Result, ingest
from .intake import find
from .models import Source

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

    @classmethod
    def of(
        cls, raw: bytes, protocol: str, url: str = "", etag: str = ""
    ) -> "Candidate":
        return cls(base64.b64encode(raw).decode(), protocol, url, etag)

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


def look_at(raw: bytes, protocol: str = "") -> Review:
    """What would be catalogued, or every reason why not."""
    return reviewed(Candidate.of(raw, protocol))


def look_at_url(url: str, protocol: str = "", authorization: str = "") -> Review:
    """The same for what is found at a URL; raises what fetching raises."""
    found = find(url, protocol, authorization)
    fetched = found.fetched
    return reviewed(
        Candidate.of(fetched.body, found.record.protocol, fetched.url, fetched.etag)
    )


def reviewed(candidate: Candidate) -> Review:
    reading = examine(candidate.definition, candidate.protocol)
    return Review(reading, candidate.sealed() if reading.valid else "")


def accept(sealed: str) -> tuple[Outcome, str]:
    """Register what was looked at; the outcome, and how to tell it to people."""
    candidate = Candidate.unsealed(sealed)
    record, _ = parse(candidate.definition, candidate.protocol)
    source = Source.IMPORT if candidate.url else Source.PUSH
    outcome = ingest(
        Definition(record, candidate.definition, source, candidate.url, candidate.etag)
    )
    return outcome, TOLD[outcome.result].format(outcome.entry)

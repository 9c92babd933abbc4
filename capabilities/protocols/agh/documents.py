"""The capability document: AGH's one artifact, and the digest that binds it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Self

from ...problems import Document, Problems, member
from .identifiers import trimmed

REQUIRED = ("id", "summary", "outcome")
LISTS = (
    "context_needed",
    "artifacts_expected",
    "execution_outline",
    "constraints",
    "examples",
)
# The order of the members in the hashed text; it is not alphabetical.
HASHED = (*REQUIRED, "version", *LISTS, "requirements")
ON_THE_WIRE = (*REQUIRED, "version", "digest", *LISTS, "requirements")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
# What AGH's encoder escapes beyond JSON's own rules, lest it be read as HTML.
ESCAPED = {
    ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityDocument:
    """One capability, normalised; `raw` is what was received, to the last member.

    `carried` is the digest that came with it, and '' when none did.
    """

    id: str
    summary: str
    outcome: str
    version: str = ""
    context_needed: tuple[str, ...] = ()
    artifacts_expected: tuple[str, ...] = ()
    execution_outline: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    carried: str = ""
    raw: Document = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def read(cls, stated: Any, problems: Problems, at: str = "$") -> Self:
        """What it says; it holds only when `problems` has no errors after it."""
        if not isinstance(stated, dict):
            problems.error(at, "must be an object")
            stated = {}
        members: Document = {"raw": stated}
        for key in REQUIRED:
            members[key] = read_required(stated, key, problems, at)
        for key in LISTS:
            members[key] = read_list(stated, key, problems, at)
        members["version"] = read_text(stated, "version", problems, at)
        members["requirements"] = read_requirements(stated, problems, at)
        members["carried"] = read_digest(stated, problems, at)
        return cls(**members)

    @property
    def unknown(self) -> Document:
        """Members of newer revisions: never hashed, always passed on."""
        return {key: self.raw[key] for key in self.raw if key not in ON_THE_WIRE}

    @property
    def verified(self) -> bool:
        """Whether a digest came with the document, and is the document's own."""
        return self.carried == self.digest()

    def canonical_json(self) -> bytes:
        """The one text of it that is hashed."""
        text = json.dumps(
            self.members(HASHED), ensure_ascii=False, separators=(",", ":")
        )
        return text.translate(ESCAPED).encode()

    def digest(self) -> str:
        return f"sha256:{sha256(self.canonical_json()).hexdigest()}"

    def to_wire(self) -> Document:
        """As it is sent: normalised, nothing empty, its digest, what we do not know."""
        return self.members(ON_THE_WIRE) | self.unknown

    def members(self, names: tuple[str, ...]) -> Document:
        """The named members as JSON; optional ones only when there is something."""
        each = ((name, self.stated(name)) for name in names)
        return {name: value for name, value in each if value or name in REQUIRED}

    def stated(self, name: str) -> Any:
        if name == "digest":
            return self.digest()
        value = getattr(self, name)
        return list(value) if isinstance(value, tuple) else value


def read_text(stated: Document, key: str, problems: Problems, at: str) -> str:
    """A text that may be missing; anything else is an error, and ''."""
    value = stated.get(key)
    if value is None or isinstance(value, str):
        return trimmed(value or "")
    problems.error(member(at, key), "must be a string")
    return ""


def read_required(stated: Document, key: str, problems: Problems, at: str) -> str:
    value = stated.get(key)
    text = trimmed(value) if isinstance(value, str) else ""
    if not text:
        problems.error(member(at, key), "must be a non-empty string")
    return text


def read_items(
    stated: Document, key: str, problems: Problems, at: str
) -> Iterator[tuple[str, str]]:
    """Each text of a list that may be missing, with its path."""
    values = stated.get(key)
    if values is not None and not isinstance(values, list):
        problems.error(member(at, key), "must be a list of strings")
        return
    for n, value in enumerate(values or ()):
        path = f"{member(at, key)}[{n}]"
        if isinstance(value, str):
            yield path, trimmed(value)
        else:
            problems.error(path, "must be a string")


def read_list(
    stated: Document, key: str, problems: Problems, at: str
) -> tuple[str, ...]:
    """The items that say something, in their order."""
    return tuple(text for _, text in read_items(stated, key, problems, at) if text)


def read_requirements(stated: Document, problems: Problems, at: str) -> tuple[str, ...]:
    """Capability ids, each once, sorted by code point."""
    found = set[str]()
    for path, text in read_items(stated, "requirements", problems, at):
        if not text:
            problems.error(path, "must be a non-empty string")
        elif text in found:
            problems.error(path, f"{text!r} is listed already")
        found.add(text)
    return tuple(sorted(found))


def read_digest(stated: Document, problems: Problems, at: str) -> str:
    """The digest that came along; one of another form can never be verified."""
    digest = read_text(stated, "digest", problems, at)
    if digest and not DIGEST.fullmatch(digest):
        message = "should be sha256: and 64 lowercase hexadecimal digits"
        problems.warning(member(at, "digest"), message)
    return digest

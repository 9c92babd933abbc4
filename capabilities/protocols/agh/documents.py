"""Capability documents, and the digest that identifies their content."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Self

from ...problems import Document, Problems, member_path
from .identifiers import normalize_text

REQUIRED_MEMBERS = ("id", "summary", "outcome")
DOCUMENT_LIST_MEMBERS = (
    "context_needed",
    "artifacts_expected",
    "execution_outline",
    "constraints",
    "examples",
)
# The order of the members in the hashed JSON; it is not alphabetical.
HASHED_MEMBERS = (*REQUIRED_MEMBERS, "version", *DOCUMENT_LIST_MEMBERS, "requirements")
WIRE_MEMBERS = (
    *REQUIRED_MEMBERS,
    "version",
    "digest",
    *DOCUMENT_LIST_MEMBERS,
    "requirements",
)
DIGEST_PATTERN = re.compile(r"sha256:[0-9a-f]{64}")
# AGH's JSON encoder also escapes these characters, for safe embedding in HTML.
HTML_ESCAPES = {
    ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityDocument:
    """A normalized capability document; `raw` is the complete received object.

    `received_digest` is empty if the document came without a digest.
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
    received_digest: str = ""
    raw: Document = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def parse(cls, value: Any, problems: Problems, path: str = "$") -> Self:
        """Parse a JSON value; the result is valid only if `problems` has no errors."""
        if not isinstance(value, dict):
            problems.error(path, "must be an object")
            value = {}
        fields: Document = {"raw": value}
        for key in REQUIRED_MEMBERS:
            fields[key] = read_required_text(value, key, problems, path)
        for key in DOCUMENT_LIST_MEMBERS:
            fields[key] = read_list(value, key, problems, path)
        fields["version"] = read_text(value, "version", problems, path)
        fields["requirements"] = read_requirements(value, problems, path)
        fields["received_digest"] = read_digest(value, problems, path)
        return cls(**fields)

    @property
    def is_verified(self) -> bool:
        """Whether a digest was received and matches the document."""
        return self.received_digest == self.compute_digest()

    def canonical_json(self) -> bytes:
        """Return the JSON text that is hashed."""
        text = json.dumps(
            self.select_members(HASHED_MEMBERS),
            ensure_ascii=False,
            separators=(",", ":"),
        )
        return text.translate(HTML_ESCAPES).encode()

    def compute_digest(self) -> str:
        return f"sha256:{sha256(self.canonical_json()).hexdigest()}"

    def to_wire(self) -> Document:
        """Return the document to send: as received, with its digest.

        Optional members without a value are omitted, as the protocol requires. White
        space is kept: the digest ignores it.
        """
        if not self.raw:
            return self.select_members(WIRE_MEMBERS)
        wire = {key: value for key, value in self.raw.items() if not self.is_empty(key)}
        return wire if self.is_verified else wire | {"digest": self.compute_digest()}

    def is_empty(self, key: str) -> bool:
        """Return whether a received member is known, but has no value."""
        return key in WIRE_MEMBERS and not self.get_member(key)

    def select_members(self, names: tuple[str, ...]) -> Document:
        """Return the named members as JSON values, without empty optional ones."""
        values = {name: self.get_member(name) for name in names}
        return {
            name: value
            for name, value in values.items()
            if value or name in REQUIRED_MEMBERS
        }

    def get_member(self, name: str) -> Any:
        if name == "digest":
            return self.compute_digest()
        value = getattr(self, name)
        return list(value) if isinstance(value, tuple) else value


def read_text(document: Document, key: str, problems: Problems, path: str) -> str:
    """Return an optional string, normalized; another type is an error."""
    value = document.get(key)
    if value is None or isinstance(value, str):
        return normalize_text(value or "")
    problems.error(member_path(path, key), "must be a string")
    return ""


def read_required_text(
    document: Document, key: str, problems: Problems, path: str
) -> str:
    value = document.get(key)
    text = normalize_text(value) if isinstance(value, str) else ""
    if not text:
        problems.error(member_path(path, key), "must be a non-empty string")
    return text


def read_items(
    document: Document, key: str, problems: Problems, path: str
) -> Iterator[tuple[str, str]]:
    """Yield the path and the normalized text of each item of an optional list."""
    values = document.get(key)
    if values is not None and not isinstance(values, list):
        problems.error(member_path(path, key), "must be a list of strings")
        return
    for n, value in enumerate(values or ()):
        item_path = f"{member_path(path, key)}[{n}]"
        if isinstance(value, str):
            yield item_path, normalize_text(value)
        else:
            problems.error(item_path, "must be a string")


def read_list(
    document: Document, key: str, problems: Problems, path: str
) -> tuple[str, ...]:
    """Return the non-blank items of an optional list, in order."""
    return tuple(text for _, text in read_items(document, key, problems, path) if text)


def read_requirements(
    document: Document, problems: Problems, path: str
) -> tuple[str, ...]:
    """Return the required capability IDs, sorted by code point."""
    requirements = set[str]()
    for item_path, text in read_items(document, "requirements", problems, path):
        if not text:
            problems.error(item_path, "must be a non-empty string")
        elif text in requirements:
            message = f"must be unique; {text!r} is already listed"
            problems.error(item_path, message)
        requirements.add(text)
    return tuple(sorted(requirements))


def read_digest(document: Document, problems: Problems, path: str) -> str:
    """Return the received digest; one in another format can never be verified."""
    digest = read_text(document, "digest", problems, path)
    if digest and not DIGEST_PATTERN.fullmatch(digest):
        message = "should be sha256: followed by 64 lowercase hexadecimal digits"
        problems.warning(member_path(path, "digest"), message)
    return digest

"""Changes between two definitions, as values that can be stored and shown."""

import json
from dataclasses import dataclass
from typing import Any

# Characters of a value, of a path in a schema, and of each name in it.
VALUE_LIMIT = 500
PATH_LIMIT = 300
NAME_LIMIT = 100
# A field whose name says nothing about a change.
PLAIN_FIELD = "value"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A change of one field, or of the part of it at `path`; None means missing."""

    field: str
    before: Any
    after: Any
    reason: str
    path: str = ""
    breaking: bool = False

    @property
    def summary(self) -> str:
        """The reason and where it applies, such as `values removed (input modes)`."""
        label = "" if self.field == PLAIN_FIELD else self.field.replace("_", " ")
        subject = self.path or label
        return f"{self.reason} ({shorten(subject, NAME_LIMIT)})".removesuffix(" ()")

    def to_json(self) -> dict[str, Any]:
        """Return the change as a JSON object of limited size."""
        return {
            "field": shorten(self.field, NAME_LIMIT),
            "path": shorten(self.path, PATH_LIMIT),
            "from": bound_value(self.before),
            "to": bound_value(self.after),
            "breaking": self.breaking,
            "reason": self.reason,
        }


def shorten(text: str, limit: int) -> str:
    """Return a text that is over the limit shortened, with its length at the end."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text):,} characters)"


def bound_value(value: Any) -> Any:
    """Return the value, or the beginning of its JSON text if that is over the limit."""
    if isinstance(value, str):
        return shorten(value, VALUE_LIMIT)
    text = json.dumps(value, ensure_ascii=False)
    return value if len(text) <= VALUE_LIMIT else shorten(text, VALUE_LIMIT)


def join_path(path: str, name: str) -> str:
    name = shorten(name, NAME_LIMIT)
    return f"{path}.{name}" if path else name


def describe_change(before: Any, after: Any) -> str:
    """Return "added", "removed" or "changed"."""
    if before is None:
        return "added"
    return "removed" if after is None else "changed"


def canonicalize(value: Any) -> str:
    """Return a JSON text that is equal for equal values, which may be unhashable."""
    return json.dumps(value, sort_keys=True)

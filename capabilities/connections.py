"""How a client connects to an agent: endpoints, credentials and examples to copy."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

# Characters that are invisible or change the order in which a line is displayed. Text
# with them would look different from what is copied.
DECEPTIVE_CHARACTERS = re.compile(
    r"[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address of an agent and the protocol that it speaks there."""

    address: str
    protocol: str


@dataclass(frozen=True, slots=True)
class Snippet:
    """A text to copy: a command, a message or the content of a file."""

    title: str
    text: str
    # Such as "json" or "sh".
    language: str = ""
    file_name: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ConnectionOption:
    """One way to connect, such as one of several interfaces, with its snippets."""

    title: str
    snippets: list[Snippet] = field(default_factory=list)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Connection:
    """What a client needs in order to call an agent, as human-readable text."""

    endpoints: list[Endpoint] = field(default_factory=list)
    # Each says what a caller must present, e.g. "API key in the header as X-Key".
    credentials: list[str] = field(default_factory=list)
    # Each describes a value that a caller can or must set and that is no credential.
    settings: list[str] = field(default_factory=list)
    # The best option first.
    options: list[ConnectionOption] = field(default_factory=list)
    # Why clients cannot connect to the agent at all; "" when they can.
    unavailable_reason: str = ""

    @property
    def snippets(self) -> list[Snippet]:
        return [snippet for option in self.options for snippet in option.snippets]


def dump_snippet(value: Any) -> str:
    """Return the value as JSON for people, with deceptive characters escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return DECEPTIVE_CHARACTERS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)

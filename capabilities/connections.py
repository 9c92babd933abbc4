"""How a client connects to an agent: endpoints, credentials and examples to copy."""

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# Characters that are invisible or change the order in which a line is displayed. Text
# with them would look different from what is copied.
DECEPTIVE_CHARACTERS = re.compile(
    r"[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
# A word of a shell command; an object is written as JSON.
ShellWord = str | Mapping[str, Any]
UNSAFE_COMMAND = (
    "No command is shown, because the definition puts line breaks or characters into it"
    " that are invisible or change how it is displayed. See the raw definition."
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


def build_command_option(
    title: str, lines: Sequence[Sequence[ShellWord]], *, note: str = ""
) -> ConnectionOption:
    """Return an option with a shell command, or with the reason why it has none."""
    if command := build_shell_command(lines):
        return ConnectionOption(title, [Snippet("Command", command, "sh", note=note)])
    return ConnectionOption(title, note=UNSAFE_COMMAND)


def build_shell_command(
    lines: Iterable[Sequence[ShellWord]], environment: Mapping[str, str] | None = None
) -> str:
    """Return a command of one or more lines with quoted words.

    The names of environment variables must be valid. Return "" if a word has line
    breaks or characters that would look different from what is copied.
    """
    lines, environment = list(lines), environment or {}
    words = [*environment.values(), *(word for line in lines for word in line)]
    if not all(word.isprintable() for word in words if isinstance(word, str)):
        return ""
    assignments = [
        f"{name}={shlex.quote(value)} " for name, value in environment.items()
    ]
    texts = [" ".join(quote_shell_word(word) for word in line) for line in lines]
    return "".join(assignments) + " \\\n  ".join(texts)


def quote_shell_word(word: ShellWord) -> str:
    return shlex.quote(word if isinstance(word, str) else dump_snippet(word))

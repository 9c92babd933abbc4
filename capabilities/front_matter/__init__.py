"""Definitions in YAML or TOML: the front matter of a text, or a whole file of it."""

import re

from ..problems import Document, Problems, Unreadable
from .toml_text import read_toml
from .yaml_text import read_yaml

BYTES_LIMIT = 65_536
FENCE = re.compile(r"\s*(---|\+\+\+)[ \t]*\r?(?:\n|\Z)")
CLOSING = {
    fence: re.compile(rf"^{re.escape(fence)}[ \t]*\r?$", re.MULTILINE)
    for fence in ("---", "+++")
}
LANGUAGES = {"---": "YAML", "+++": "TOML"}
KEY = r"(?:[A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*')"
ASSIGNMENT = re.compile(rf"{KEY}(?:[ \t]*\.[ \t]*{KEY})*[ \t]*=(?!=)")
# `[true]` is JSON, and so is every list that holds more than a bare word.
TABLE = re.compile(r"\[{1,2}(?!(?:true|false|null)\])[A-Za-z_][\w.-]*\]{1,2}\s*(?:#|$)")
MEMBER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*:(?:\s|$)")


def opens(text: str) -> bool:
    """Whether a text begins as front matter, YAML or TOML does, and JSON never."""
    return bool(FENCE.match(text) or language_of(text))


def decode(text: str, problems: Problems) -> Document:
    """What it says, as JSON would; what follows front matter is left alone."""
    language, body = stated(text)
    if len(body.encode()) > BYTES_LIMIT:
        raise Unreadable(f"has more than {BYTES_LIMIT} bytes of {language}")
    return read_toml(body) if language == "TOML" else read_yaml(body, problems)


def heads(text: str, word: str) -> bool:
    """Whether the text has front matter, and this word is in there."""
    return bool(FENCE.match(text)) and word in stated(text)[1]


def stated(text: str) -> tuple[str, str]:
    """Its language and what is said in it, each line still under its own number."""
    opening = FENCE.match(text)
    if opening is None:
        return language_of(text), text
    closing = CLOSING[opening[1]].search(text, opening.end())
    # A file of nothing else needs no fence at its end.
    end = closing.start() if closing else len(text)
    above = "\n" * text.count("\n", 0, opening.end())
    return LANGUAGES[opening[1]], above + text[opening.end() : end]


def language_of(text: str) -> str:
    """The language of a whole file, by its first line that says something."""
    line = first_line(text)
    if ASSIGNMENT.match(line) or TABLE.match(line):
        return "TOML"
    return "YAML" if MEMBER.match(line) else ""


def first_line(text: str) -> str:
    """The first line that is neither blank nor a comment; JSON has no comments."""
    start = len(text) - len(text.lstrip())
    for line in text[start : start + BYTES_LIMIT].split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            return line.strip()
    return ""

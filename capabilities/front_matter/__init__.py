"""Reading definitions in YAML or TOML: front matter of a text, or a whole file."""

import re

from ..problems import Document, Problems, UnreadableDocument
from .toml_text import read_toml
from .yaml_text import read_yaml

YAML_OR_TOML_BYTES_LIMIT = 65_536
FENCE = re.compile(r"\s*(---|\+\+\+)[ \t]*\r?(?:\n|\Z)")
CLOSING_FENCES = {
    fence: re.compile(rf"^{re.escape(fence)}[ \t]*\r?$", re.MULTILINE)
    for fence in ("---", "+++")
}
LANGUAGES = {"---": "YAML", "+++": "TOML"}
TOML_KEY = r"(?:[A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*')"
TOML_ASSIGNMENT = re.compile(rf"{TOML_KEY}(?:[ \t]*\.[ \t]*{TOML_KEY})*[ \t]*=(?!=)")
# A line like `[table]` starts TOML, but `[true]`, `[1]` and `["a"]` are JSON.
TOML_TABLE = re.compile(
    r"\[{1,2}(?!(?:true|false|null)\])[A-Za-z_][\w.-]*\]{1,2}\s*(?:#|$)"
)
YAML_MEMBER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*:(?:\s|$)")


def is_yaml_or_toml(text: str) -> bool:
    """Return whether a text is YAML, TOML or front matter; never true for JSON."""
    return bool(FENCE.match(text) or detect_language(text))


def decode(text: str, problems: Problems) -> Document:
    """Return the document; text after the front matter is ignored."""
    language, body = extract(text)
    if len(body.encode()) > YAML_OR_TOML_BYTES_LIMIT:
        message = f"has more than {YAML_OR_TOML_BYTES_LIMIT} bytes of {language}"
        raise UnreadableDocument(message)
    return read_toml(body) if language == "TOML" else read_yaml(body, problems)


def has_front_matter(text: str) -> bool:
    return bool(FENCE.match(text))


def has_word_in_front_matter(text: str, word: str) -> bool:
    """Return whether the text has front matter with this word in it."""
    return has_front_matter(text) and word in extract(text)[1]


def extract(text: str) -> tuple[str, str]:
    """Return the language and the YAML or TOML part of a text.

    Lines keep their numbers, so that error messages have the right ones.
    """
    opening = FENCE.match(text)
    if opening is None:
        return detect_language(text), text
    closing = CLOSING_FENCES[opening[1]].search(text, opening.end())
    # A file of nothing but front matter needs no closing fence.
    end = closing.start() if closing else len(text)
    padding = "\n" * text.count("\n", 0, opening.end())
    return LANGUAGES[opening[1]], padding + text[opening.end() : end]


def detect_language(text: str) -> str:
    """Return "YAML", "TOML" or "", judging by the first significant line."""
    line = first_significant_line(text)
    if TOML_ASSIGNMENT.match(line) or TOML_TABLE.match(line):
        return "TOML"
    return "YAML" if YAML_MEMBER.match(line) else ""


def first_significant_line(text: str) -> str:
    """Return the first line that is neither blank nor a comment, or ''."""
    start = len(text) - len(text.lstrip())
    for line in text[start : start + YAML_OR_TOML_BYTES_LIMIT].split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            return line.strip()
    return ""

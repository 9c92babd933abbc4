"""Collecting what is wrong with a definition, each with its place in it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from .records import CAPABILITY_LIMIT, ENDPOINT_LIMIT, too_long

Document = dict[str, Any]

PLAIN_MEMBER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
# Paths and lists of problems stay readable, and cannot outgrow the document.
KEY_LIMIT = 80
PROBLEM_LIMIT = 1_000
DEPTH_LIMIT = 64


def member(path: str, key: str) -> str:
    """The JSON path of a member: `$.skills`, or `$['odd key']`; cut when endless."""
    shown = key if len(key) <= KEY_LIMIT else key[:KEY_LIMIT] + "…"
    return f"{path}.{shown}" if PLAIN_MEMBER.fullmatch(shown) else f"{path}[{shown!r}]"


def url_fault(url: str) -> str:
    """Why a text is not a web address we would open or show as a link, or ''."""
    if any(character.isspace() or not character.isprintable() for character in url):
        return "must be a URL without spaces or control characters"
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises on a port that is none
    except ValueError:
        return "must be a valid URL"
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        return "must be an http or https URL"
    return too_long(url, ENDPOINT_LIMIT)


@dataclass(frozen=True, slots=True)
class Problem:
    path: str
    message: str


class Unreadable(Exception):
    """The bytes are no document at all; carries the one problem that says why."""

    def __init__(self, message: str, path: str = "$") -> None:
        super().__init__(message)
        self.problem = Problem(path, message)


def too_deep(path: str = "$") -> Unreadable:
    return Unreadable(f"is nested deeper than {DEPTH_LIMIT} levels", path)


def remember(found: list[Problem], problem: Problem) -> None:
    """Keep a problem; past the limit, only the news that there are more."""
    if len(found) < PROBLEM_LIMIT:
        found.append(problem)
    elif len(found) == PROBLEM_LIMIT:
        found.append(Problem("$", f"has more than these {PROBLEM_LIMIT} problems"))


class Problems:
    """Errors refuse a definition; warnings only tell what is odd about it."""

    def __init__(self) -> None:
        self.errors: list[Problem] = []
        self.warnings: list[Problem] = []

    def error(self, path: str, message: str) -> None:
        remember(self.errors, Problem(path, message))

    def warning(self, path: str, message: str) -> None:
        remember(self.warnings, Problem(path, message))

    def required_text(self, document: Document, key: str, at: str = "$") -> str:
        """A non-empty text; an error, and '', when it is anything else."""
        value = document.get(key)
        if isinstance(value, str) and value.strip():
            return value
        self.error(member(at, key), "must be a non-empty string")
        return ""

    def text(self, document: Document, key: str, at: str = "$") -> str:
        """A text that may be missing; a warning, and '', when it is no text."""
        value = document.get(key)
        if value is None or isinstance(value, str):
            return value or ""
        self.warning(member(at, key), "should be a string; ignored")
        return ""

    def link(self, document: Document, key: str, at: str = "$") -> str:
        """A web address that may be missing; a warning, and '', when it is unfit."""
        url = self.text(document, key, at)
        if url and (fault := url_fault(url)):
            self.warning(member(at, key), f"{fault}; ignored")
            return ""
        return url

    def texts(self, document: Document, key: str, at: str = "$") -> list[str] | None:
        """A list of texts, None when missing; anything else in it is a warning."""
        values = document.get(key)
        if values is None:
            return None
        if not isinstance(values, list):
            self.warning(member(at, key), "should be a list of strings; ignored")
            return None
        for n, value in enumerate(values):
            if not isinstance(value, str):
                path = f"{member(at, key)}[{n}]"
                self.warning(path, "should be a string; ignored")
        return [value for value in values if isinstance(value, str)]

    def flag(self, document: Document, key: str, at: str = "$") -> bool | None:
        """True or false, None when missing; a warning, and None, when it is neither."""
        value = document.get(key)
        if value is None or isinstance(value, bool):
            return value
        self.warning(member(at, key), "should be true or false; ignored")
        return None

    def object(self, document: Document, key: str, at: str = "$") -> Document:
        """An object that may be missing; a warning, and {}, when it is none."""
        value = document.get(key)
        if value is None or isinstance(value, dict):
            return value or {}
        self.warning(member(at, key), "should be an object; ignored")
        return {}

    def objects(
        self, document: Document, key: str, at: str = "$"
    ) -> Iterator[tuple[str, Document]]:
        """Each object of a list, with its path; what is no object is an error."""
        values = document.get(key)
        path = member(at, key)
        if values is None:
            return
        if not isinstance(values, list):
            self.error(path, "must be a list of objects")
            return
        if len(values) > CAPABILITY_LIMIT:
            self.error(path, f"has {len(values)} items, over {CAPABILITY_LIMIT}")
            return
        for n, value in enumerate(values):
            if isinstance(value, dict):
                yield f"{path}[{n}]", value
            else:
                self.error(f"{path}[{n}]", "must be an object")

    def unknown(self, document: Document, known: Iterable[str], at: str = "$") -> None:
        """Tell of members that no known revision has; they stay in the raw text."""
        for key in sorted(document.keys() - set(known)):
            self.warning(member(at, key), "unknown member; kept, not interpreted")

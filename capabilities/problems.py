"""Errors and warnings about a definition, each with a JSON path."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from .records import CAPABILITY_LIMIT, ENDPOINT_LIMIT, find_length_error

Document = dict[str, Any]

PLAIN_MEMBER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
# Keep paths and lists of problems short, whatever the size of the document.
KEY_LIMIT = 80
PROBLEM_LIMIT = 1_000
DEPTH_LIMIT = 64
# How relative URLs start. Others, such as `tbd`, are not resolved.
RELATIVE_URL_STARTS = ("/", "./", "../")
RELATIVE_URL_ERROR = (
    "is relative: import the definition by its URL, or supply the endpoint of the agent"
)


def member_path(path: str, key: str) -> str:
    """Return the JSON path of a member, like `$.skills` or `$['odd key']`.

    A key of more than KEY_LIMIT characters is shortened.
    """
    shown = key if len(key) <= KEY_LIMIT else key[:KEY_LIMIT] + "…"
    return f"{path}.{shown}" if PLAIN_MEMBER.fullmatch(shown) else f"{path}[{shown!r}]"


def find_url_error(url: str) -> str:
    """Return why a string is not a web address that can be opened, or ''."""
    if any(character.isspace() or not character.isprintable() for character in url):
        return "must be a URL without spaces or control characters"
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises ValueError on an invalid port
    except ValueError:
        return "must be a well-formed URL"
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        return "must be an http or https URL"
    return find_length_error(url, ENDPOINT_LIMIT)


def is_relative_url(url: str) -> bool:
    return url.startswith(RELATIVE_URL_STARTS)


@dataclass(frozen=True, slots=True)
class Problem:
    path: str
    message: str


class UnreadableDocument(Exception):
    """The bytes cannot be read as a document; `problem` says why."""

    def __init__(self, message: str, path: str = "$") -> None:
        super().__init__(message)
        self.problem = Problem(path, message)


def build_too_deep_error(path: str = "$") -> UnreadableDocument:
    return UnreadableDocument(f"is nested deeper than {DEPTH_LIMIT} levels", path)


def append_limited(problems: list[Problem], problem: Problem) -> None:
    """Append a problem; at the limit, append only a note that there are more."""
    if len(problems) < PROBLEM_LIMIT:
        problems.append(problem)
    elif len(problems) == PROBLEM_LIMIT:
        message = f"has more than {PROBLEM_LIMIT} problems; the others are not listed"
        problems.append(Problem("$", message))


class Problems:
    """Collects errors, which make a definition invalid, and warnings, which do not.

    The readers below return the value of a member if it has the right type, otherwise
    an empty value. For a member of another type, and for a missing one that is
    required, they add an error or a warning.

    With `rejects_repeated_members`, members that occur twice in an object are errors.
    `base_url` is where the document was fetched, for its relative URLs.
    """

    def __init__(
        self, *, rejects_repeated_members: bool = False, base_url: str = ""
    ) -> None:
        self.errors: list[Problem] = []
        self.warnings: list[Problem] = []
        self.rejects_repeated_members = rejects_repeated_members
        self.base_url = base_url

    def error(self, path: str, message: str) -> None:
        append_limited(self.errors, Problem(path, message))

    def warning(self, path: str, message: str) -> None:
        append_limited(self.warnings, Problem(path, message))

    def repeated_member(self, path: str, message: str) -> None:
        """Add an error if repeated members are rejected, otherwise a warning."""
        if self.rejects_repeated_members:
            self.error(path, message)
        else:
            self.warning(path, f"{message}; the last value is used")

    def required_string(self, document: Document, key: str, path: str = "$") -> str:
        """Return a non-empty string; add an error and return '' for anything else."""
        value = document.get(key)
        if isinstance(value, str) and value.strip():
            return value
        self.error(member_path(path, key), "must be a non-empty string")
        return ""

    def string(self, document: Document, key: str, path: str = "$") -> str:
        """Return an optional string, '' if missing."""
        value = document.get(key)
        if value is None or isinstance(value, str):
            return value or ""
        self.warning(member_path(path, key), "should be a string; ignored")
        return ""

    def url(self, document: Document, key: str, path: str = "$") -> str:
        """Return an optional http or https URL, '' if missing."""
        url = self.resolve_url(self.string(document, key, path))
        if url and (message := find_url_error(url)):
            self.warning(member_path(path, key), f"{message}; ignored")
            return ""
        return url

    def resolve_url(self, url: str) -> str:
        """Return a relative URL resolved against the base URL, others as they are."""
        if not self.base_url or not is_relative_url(url):
            return url
        try:
            return urljoin(self.base_url, url)
        except ValueError:
            return url

    def string_list(
        self, document: Document, key: str, path: str = "$"
    ) -> list[str] | None:
        """Return the strings of an optional list, None if missing."""
        values = document.get(key)
        if values is None:
            return None
        list_path = member_path(path, key)
        if not isinstance(values, list):
            self.warning(list_path, "should be a list of strings; ignored")
            return None
        for index, value in enumerate(values):
            if not isinstance(value, str):
                self.warning(f"{list_path}[{index}]", "should be a string; ignored")
        return [value for value in values if isinstance(value, str)]

    def boolean(self, document: Document, key: str, path: str = "$") -> bool | None:
        """Return an optional boolean, None if missing."""
        value = document.get(key)
        if value is None or isinstance(value, bool):
            return value
        self.warning(member_path(path, key), "should be true or false; ignored")
        return None

    def object(self, document: Document, key: str, path: str = "$") -> Document:
        """Return an optional object, {} if missing."""
        value = document.get(key)
        if value is None or isinstance(value, dict):
            return value or {}
        self.warning(member_path(path, key), "should be an object; ignored")
        return {}

    def iter_objects(
        self, document: Document, key: str, path: str = "$"
    ) -> Iterator[tuple[str, Document]]:
        """Yield path and object for each item of an optional list.

        Add an error for each item that is not an object. Yield nothing if the value is
        not a list or is too long.
        """
        values = document.get(key)
        list_path = member_path(path, key)
        if values is None:
            return
        if not isinstance(values, list):
            self.error(list_path, "must be a list of objects")
            return
        if len(values) > CAPABILITY_LIMIT:
            self.error(
                list_path, f"has {len(values)} items; the limit is {CAPABILITY_LIMIT}"
            )
            return
        for index, value in enumerate(values):
            if isinstance(value, dict):
                yield f"{list_path}[{index}]", value
            else:
                self.error(f"{list_path}[{index}]", "must be an object")

    def warn_unknown(
        self, document: Document, known_members: Iterable[str], path: str = "$"
    ) -> None:
        """Add a warning for each member that no supported revision defines.

        Such members stay in the stored definition.
        """
        for key in sorted(document.keys() - set(known_members)):
            message = "is an unknown member; stored, but not interpreted"
            self.warning(member_path(path, key), message)

"""Where agents publish what they are."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from capabilities.parsers import Parser, parsers


@dataclass(frozen=True, slots=True)
class Places:
    """Where a definition may be: near its agent, and at the root of its host.

    `apart` are those of definitions that do not say whose they are, by protocol.
    """

    near: list[str]
    far: list[str] = field(default_factory=list)
    apart: dict[str, str] = field(default_factory=dict)

    @classmethod
    def around(cls, url: str, protocol: str) -> "Places":
        asked = [parser for parser in parsers if protocol in ("", parser.slug)]
        # What does not say whose it is, is not looked for where it could be anybody's.
        telling = [parser for parser in asked if not parser.endpoint_apart]
        silent = [parser for parser in asked if parser.endpoint_apart]
        parts = urlsplit(url)
        bare = parts.path in ("", "/") and not parts.query
        root = urlunsplit((parts.scheme, parts.netloc, "", "", ""))
        below, itself = published(asked, url), [url] if telling else []
        near = distinct([*below, *itself] if bare else [*itself, *below])
        far = (place for place in published(telling, root) if place not in near)
        apart = {place: one.slug for one in silent for place in one.published(url)}
        return cls(near, distinct(far), apart)

    @classmethod
    def only(cls, place: str, protocol: str) -> "Places":
        parser = parsers.get(protocol)
        is_silent = parser is not None and parser.endpoint_apart
        return cls([place], apart={place: protocol} if is_silent else {})


def published(asked: Iterable[Parser], url: str) -> list[str]:
    return [place for parser in asked for place in parser.published(url)]


def distinct(places: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(places))

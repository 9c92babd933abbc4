"""The URLs where an agent may publish its definition."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from capabilities.parsers import Parser, parsers


@dataclass(frozen=True, slots=True)
class Locations:
    """Candidate URLs: near the agent, and at the root of its host.

    `without_endpoint` holds those whose definition does not say where the agent is,
    with the slug of its protocol, "" when any such protocol may be found there.
    """

    candidates: list[str]
    host_root: list[str] = field(default_factory=list)
    without_endpoint: dict[str, str] = field(default_factory=dict)

    @classmethod
    def around(cls, url: str, protocol: str) -> "Locations":
        """The URLs to try for an agent, or a host, at this URL."""
        possible = [parser for parser in parsers if protocol in ("", parser.slug)]
        # A definition that does not name its agent is not looked for at the root of a
        # host, where it could be anybody's.
        naming = [parser for parser in possible if not parser.requires_endpoint]
        others = [parser for parser in possible if parser.requires_endpoint]
        parts = urlsplit(url)
        is_host = parts.path in ("", "/") and not parts.query
        root = urlunsplit((parts.scheme, parts.netloc, "", "", ""))
        below, itself = published(possible, url), [url] if naming else []
        near = distinct([*below, *itself] if is_host else [*itself, *below])
        at_root = (place for place in published(naming, root) if place not in near)
        without = {place: one.slug for one in others for place in one.published(url)}
        return cls(near, distinct(at_root), without)

    @classmethod
    def only(cls, url: str, protocol: str) -> "Locations":
        """This URL and no other."""
        parser = parsers.get(protocol)
        silent = parser is not None and parser.requires_endpoint
        return cls([url], without_endpoint={url: protocol} if silent else {})

    @classmethod
    def of_declaration(cls, url: str, protocol: str) -> "Locations":
        """The URL of a declaration that does not say where its agent is."""
        return cls([url], without_endpoint={url: protocol})


def published(possible: Iterable[Parser], url: str) -> list[str]:
    return [place for parser in possible for place in parser.published(url)]


def distinct(urls: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(urls))

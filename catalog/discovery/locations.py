"""The URLs where an agent may publish its definition."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from capabilities.parsers import Parser, parsers


@dataclass(frozen=True, slots=True)
class Locations:
    """Candidate URLs: near the agent's URL, and at the root of its host.

    `without_endpoint` holds the URLs whose definitions do not contain the agent's
    endpoint, with the slug of their protocol. `endpoints` are URLs where a host may
    have a running agent.
    """

    candidates: list[str]
    host_root: list[str] = field(default_factory=list)
    without_endpoint: dict[str, str] = field(default_factory=dict)
    endpoints: list[str] = field(default_factory=list)
    # Whether the URL is that of a host, without a path.
    is_host: bool = False
    # Whether the URL has a path that is usual for running agents.
    is_endpoint: bool = False

    @property
    def all_urls(self) -> list[str]:
        return [*self.candidates, *self.endpoints, *self.host_root]

    @classmethod
    def for_agent(cls, url: str, protocol: str) -> "Locations":
        """Return the URLs to try for an agent or a host at this URL."""
        matching = [parser for parser in parsers if protocol in ("", parser.slug)]
        # At the root of a host, a definition without an endpoint could be any agent's.
        with_endpoint = [parser for parser in matching if not parser.requires_endpoint]
        parts = urlsplit(url)
        is_host = parts.path in ("", "/") and not parts.query
        root = urlunsplit((parts.scheme, parts.netloc, "", "", ""))
        published = get_definition_urls(matching, url)
        own_url = [url] if with_endpoint else []
        candidates = remove_duplicates(
            published + own_url if is_host else own_url + published
        )
        root_urls = get_definition_urls(with_endpoint, root)
        host_root = remove_duplicates(
            root_url for root_url in root_urls if root_url not in candidates
        )
        without_endpoint = {
            definition_url: parser.slug
            for parser in matching
            if parser.requires_endpoint
            for definition_url in parser.definition_urls(url)
        }
        paths = get_endpoint_paths(matching)
        return cls(
            candidates,
            host_root,
            without_endpoint,
            endpoints=[root + path for path in paths] if is_host else [],
            is_host=is_host,
            is_endpoint=parts.path.rstrip("/").endswith(tuple(paths)),
        )

    @classmethod
    def for_single_url(cls, url: str, protocol: str) -> "Locations":
        """Return this URL as the only candidate."""
        parser = parsers.get(protocol)
        if parser is not None and parser.requires_endpoint:
            return cls.for_declaration(url, protocol)
        return cls([url])

    @classmethod
    def for_declaration(cls, url: str, protocol: str) -> "Locations":
        """Return the URL of a declaration that lacks the agent's endpoint."""
        return cls([url], without_endpoint={url: protocol})


def get_definition_urls(matching: Iterable[Parser], url: str) -> list[str]:
    """Return where parsers expect the definition of an agent or a host at this URL."""
    return [
        definition_url
        for parser in matching
        for definition_url in parser.definition_urls(url)
    ]


def get_endpoint_paths(matching: Iterable[Parser]) -> list[str]:
    """Return the usual paths of the running agents that can be queried."""
    introspectors = (parser.introspector for parser in matching)
    return remove_duplicates(
        path
        for introspector in introspectors
        if introspector
        for path in introspector.endpoint_paths
    )


def remove_duplicates(urls: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(urls))

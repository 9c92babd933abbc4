"""Protected resource metadata (RFC 9728): how to get access to a guarded server."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from capabilities.documents import find_text_error, read_json
from capabilities.problems import (
    Document,
    Problems,
    UnreadableDocument,
    find_url_error,
)

from ..outbound import FetchError, fetch, get_origin

WELL_KNOWN_PATH = "/.well-known/oauth-protected-resource"
CHALLENGE_LIMIT = 4_000
METADATA_URL = re.compile(r'\bresource_metadata="?([^",\s]+)', re.IGNORECASE)
SERVER_LIMIT = 10
SCOPE_LIMIT = 50
SCOPE_LENGTH_LIMIT = 100
RESOURCE_NAME_LIMIT = 200


@dataclass(frozen=True, slots=True)
class ResourceMetadata:
    """What a guarded server says about itself; `resource` is its own URL."""

    resource: str
    name: str = ""
    authorization_servers: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()

    @classmethod
    def from_document(cls, document: Document) -> "ResourceMetadata":
        """Read the members that can be used; ignore all others."""
        problems = Problems()
        servers = problems.string_list(document, "authorization_servers") or []
        scopes = problems.string_list(document, "scopes_supported") or []
        return cls(
            problems.url(document, "resource"),
            clean_name(problems.string(document, "resource_name")),
            tuple(url for url in servers if not find_url_error(url))[:SERVER_LIMIT],
            tuple(scope for scope in scopes if is_scope(scope))[:SCOPE_LIMIT],
        )

    def describes(self, url: str) -> bool:
        """Return whether the resource is at this URL or contains it."""
        if not self.resource or get_origin(self.resource) != get_origin(url):
            return False
        resource = urlsplit(self.resource).path.rstrip("/")
        path = urlsplit(url).path.rstrip("/")
        return path == resource or path.startswith(f"{resource}/")


def clean_name(text: str) -> str:
    """Return a name without characters that cannot be displayed, or ""."""
    if find_text_error(text):
        return ""
    printable = "".join(character for character in text if character.isprintable())
    return printable.strip()[:RESOURCE_NAME_LIMIT]


def is_scope(text: str) -> bool:
    is_printable = text.isascii() and text.isprintable() and " " not in text
    return bool(text) and is_printable and len(text) <= SCOPE_LENGTH_LIMIT


async def fetch_resource_metadata(url: str, challenge: str) -> ResourceMetadata | None:
    """Return the metadata of the server that sent a challenge, None if it has none.

    Only the server's own origin is requested, and only its resources are accepted.
    """
    for metadata_url in find_metadata_urls(url, challenge):
        try:
            fetched = await fetch(metadata_url)
            document = read_json(fetched.body, Problems())
        except (FetchError, UnreadableDocument):
            continue
        metadata = ResourceMetadata.from_document(document)
        if metadata.resource and get_origin(metadata.resource) == get_origin(url):
            return metadata
    return None


def find_metadata_urls(url: str, challenge: str) -> list[str]:
    """Return the URL in a challenge, else those that follow from the server's URL."""
    match = METADATA_URL.search(challenge[:CHALLENGE_LIMIT])
    named_url = match[1] if match and not find_url_error(match[1]) else ""
    if named_url and get_origin(named_url) == get_origin(url):
        return [named_url]
    parts = urlsplit(url)
    paths = dict.fromkeys((WELL_KNOWN_PATH + parts.path.rstrip("/"), WELL_KNOWN_PATH))
    return [urlunsplit((parts.scheme, parts.netloc, path, "", "")) for path in paths]

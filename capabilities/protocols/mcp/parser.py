"""MCP servers: registry entries, server cards and introspected servers alike."""

import re
from collections.abc import Iterator

from ...connections import Connection
from ...features import AgentFeature
from ...health_requests import HealthRequest
from ...parsers import Parser
from ...problems import Document, Problems, member_path
from ...records import DESCRIPTION_LIMIT, AgentRecord, ProviderRecord, length_error
from .connection import build_connection
from .detection import is_server
from .envelope import Part, unwrapped
from .greeting import discover, initialize, listen
from .primitives import read_prompts, read_resources, read_tools
from .records import KINDS
from .transports import Transport, read_endpoint, read_transports

ROOT_MEMBERS = {
    "$schema",
    "_meta",
    "authentication",
    "capabilities",
    "description",
    "documentationUrl",
    "endpoint",
    "homepage",
    "iconUrl",
    "icons",
    "id",
    "instructions",
    "name",
    "packages",
    "prompts",
    "protocolVersion",
    "provider",
    "remotes",
    "repository",
    "requires",
    "resourceTemplates",
    "resources",
    "serverInfo",
    "serverUrl",
    "status",
    "title",
    "tools",
    "transport",
    "url",
    "vendor",
    "version",
    "version_detail",
    "websiteUrl",
    "website_url",
}
SCHEMA_DATE = re.compile(r"/([0-9]{4}-[0-9]{2}-[0-9]{2})/")
# SEP-1649: the version of such a card is that of its format.
FORMAT_VERSIONED = "/mcp-server-card/"
TOOLS_SUPPORTED = "tools.supported"
UNFILLED = re.compile(r"\$\{|\{\{|\$[A-Z]")

# Where one may read about a server, the best first.
READ_ABOUT = ("documentationUrl", "websiteUrl", "website_url", "homepage")


class MCPParser(Parser):
    slug = "mcp"
    label = "MCP"
    detection_hint = (
        "a server needs `serverInfo`, `remotes`, `packages`, or `tools` beside a URL"
    )
    well_known = (
        "/server-card",
        "/.well-known/mcp/server-card.json",
        "/.well-known/mcp.json",
    )
    kinds = KINDS

    def recognizes(self, document: Document) -> bool:
        return is_server(unwrapped(document)[0])

    def health_requests(
        self, endpoint: str, definition_url: str
    ) -> list[HealthRequest]:
        return [discover(endpoint), initialize(endpoint), listen(endpoint)]

    def build_connection(self, document: Document, record: AgentRecord) -> Connection:
        return build_connection(unwrapped(document)[0], record)

    def parse(self, document: Document, problems: Problems) -> AgentRecord:
        server, at = root = unwrapped(document)
        problems.warn_unknown(server, ROOT_MEMBERS, at)
        about = problems.object(server, "serverInfo", at), member_path(at, "serverInfo")
        name = first_text("name", (root, about), problems)
        transports = list(read_transports(server, problems, at))
        return AgentRecord(
            protocol=self.slug,
            endpoint=read_endpoint(transports, name, problems, at),
            name=first_text("title", (root, about), problems) or name,
            description=read_description(root, about, problems),
            version=read_version(root, about, problems),
            spec_version=read_spec_version(root, problems),
            provider=read_provider((root, about), problems),
            capabilities=(
                *(tools := list(read_tools(server, problems, at))),
                *read_resources(server, problems, at),
                *read_prompts(server, problems, at),
                *read_flags(server, problems, at),
                *tools_supported(server, bool(tools), at),
                *documentation((root, about), problems),
                *transport_types(transports, at),
            ),
        )


def first_text(key: str, parts: tuple[Part, ...], problems: Problems) -> str:
    """The member of the first part that says something there."""
    for stated, at in parts:
        text = problems.string(stated, key, at)
        if text.strip():
            return text
    return ""


def read_description(root: Part, about: Part, problems: Problems) -> str:
    """Its description; a server that has none still instructs its clients."""
    if description := first_text("description", (root, about), problems):
        return description
    instructions = first_text("instructions", (root,), problems)
    if fault := length_error(instructions, DESCRIPTION_LIMIT):
        message = f"as a description it {fault}; ignored"
        problems.warning(member_path(root[1], "instructions"), message)
        return ""
    return instructions


def read_version(root: Part, about: Part, problems: Problems) -> str:
    server, at = root
    detail = problems.object(server, "version_detail", at)
    parts = [root, (detail, member_path(at, "version_detail")), about]
    schema = server.get("$schema")
    if isinstance(schema, str) and FORMAT_VERSIONED in schema:
        parts = [about, root]
    for stated, place in parts:
        version = problems.string(stated, "version", place)
        if UNFILLED.search(version):
            message = "is a placeholder nobody filled in; ignored"
            problems.warning(member_path(place, "version"), message)
        elif version.strip():
            return version
    return ""


def read_spec_version(root: Part, problems: Problems) -> str:
    """The protocol's revision, else that of the registry's schema."""
    schema = first_text("$schema", (root,), problems)
    dated = SCHEMA_DATE.search(schema)
    stated = first_text("protocolVersion", (root,), problems)
    return stated or (dated[1] if dated else "")


def read_provider(parts: tuple[Part, ...], problems: Problems) -> ProviderRecord | None:
    """The first provider or vendor named, in the document or its serverInfo."""
    for part in parts:
        for key in ("provider", "vendor"):
            if provider := read_organization(part, key, problems):
                return provider
    return None


def read_organization(
    part: Part, key: str, problems: Problems
) -> ProviderRecord | None:
    stated, at = part
    place = member_path(at, key)
    if isinstance(inside := stated.get(key), dict):
        organization = problems.string(inside, "organization", place).strip()
        organization = organization or problems.string(inside, "name", place).strip()
        url = problems.url(inside, "url", place)
        if not organization:
            problems.warning(place, "names no organization; ignored")
    else:
        organization = problems.string(stated, key, at).strip()
        url = problems.url(stated, "homepage", at) if organization else ""
    return ProviderRecord(organization, url=url) if organization else None


def read_flags(
    document: Document, problems: Problems, at: str
) -> Iterator[AgentFeature]:
    """What the server says it supports; unsaid is unknown, not false."""
    place = member_path(at, "capabilities")
    for key, value in problems.object(document, "capabilities", at).items():
        path = member_path(place, key)
        name = TOOLS_SUPPORTED if key == "tools" else f"mcp.{key}"
        if isinstance(value, (bool, dict)):
            yield AgentFeature(name=name, value=value is not False, path=path)
        elif value is not None:
            problems.warning(path, "should be true, false or an object; ignored")
        if isinstance(value, dict):
            yield from read_subflags(f"mcp.{key}", value, problems, path)


def tools_supported(server: Document, listed: bool, at: str) -> Iterator[AgentFeature]:
    """Listing tools says as much, unless the server speaks of them itself."""
    stated = server.get("capabilities")
    spoken = isinstance(stated, dict) and isinstance(stated.get("tools"), (bool, dict))
    if listed and not spoken:
        path = member_path(at, "tools")
        yield AgentFeature(name=TOOLS_SUPPORTED, value=True, path=path)


def read_subflags(
    name: str, flags: Document, problems: Problems, at: str
) -> Iterator[AgentFeature]:
    for key in ("listChanged", "subscribe"):
        value = problems.boolean(flags, key, at)
        if value is not None:
            path = member_path(at, key)
            yield AgentFeature(name=f"{name}.{key}", value=value, path=path)


def documentation(
    parts: tuple[Part, ...], problems: Problems
) -> Iterator[AgentFeature]:
    """Where to read about it: its documentation, else its home page."""
    for key in READ_ABOUT:
        for stated, at in parts:
            if url := problems.url(stated, key, at):
                name, path = "identity.documentationUrl", member_path(at, key)
                yield AgentFeature(name=name, value=url, path=path)
                return


def transport_types(transports: list[Transport], at: str) -> Iterator[AgentFeature]:
    types = sorted({transport.type for transport in transports} - {""})
    if types:
        yield AgentFeature(name="mcp.transports", value=types, path=at)

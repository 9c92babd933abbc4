"""The parser for MCP servers: registry entries, server cards, introspected servers."""

import re
from collections.abc import Iterator

from ...connections import Connection
from ...features import AgentFeature
from ...health_requests import HealthRequest
from ...parsers import Parser
from ...problems import Document, Problems, member_path
from ...records import (
    DESCRIPTION_LIMIT,
    AgentRecord,
    CapabilityRecord,
    ProviderRecord,
    find_length_error,
)
from .connection import build_connection
from .detection import is_server
from .primitives import read_prompts, read_resources, read_tools
from .records import KINDS
from .registry_response import LocatedObject, unwrap_server
from .requests import (
    build_discover_request,
    build_initialize_request,
    build_stream_request,
)
from .transports import Transport, read_endpoint, read_transports

SERVER_MEMBERS = {
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
# In cards with this schema (SEP-1649), `version` is that of the card's format.
CARD_SCHEMA_PART = "/mcp-server-card/"
TOOLS_SUPPORTED = "tools.supported"
# A template variable that was published without being replaced.
PLACEHOLDER = re.compile(r"\$\{|\{\{|\$[A-Z]")
# Members with a URL for people, in order of preference.
DOCUMENTATION_MEMBERS = ("documentationUrl", "websiteUrl", "website_url", "homepage")


class MCPParser(Parser):
    slug = "mcp"
    label = "MCP"
    well_known_paths = (
        "/server-card",
        "/.well-known/mcp/server-card.json",
        "/.well-known/mcp.json",
    )
    kinds = KINDS

    def recognizes(self, document: Document) -> bool:
        return is_server(unwrap_server(document).members)

    def health_requests(
        self, endpoint: str, definition_url: str
    ) -> list[HealthRequest]:
        return [
            build_discover_request(endpoint),
            build_initialize_request(endpoint),
            build_stream_request(endpoint),
        ]

    def build_connection(self, document: Document, record: AgentRecord) -> Connection:
        return build_connection(unwrap_server(document).members, record)

    def parse(self, document: Document, problems: Problems) -> AgentRecord:
        root = unwrap_server(document)
        server, path = root
        problems.warn_unknown(server, SERVER_MEMBERS, path)
        server_info = problems.object(server, "serverInfo", path)
        info = LocatedObject(server_info, member_path(path, "serverInfo"))
        name = read_first_text("name", (root, info), problems)
        transports = list(read_transports(server, problems, path))
        return AgentRecord(
            protocol=self.slug,
            endpoint=read_endpoint(transports, name, problems, path),
            name=read_first_text("title", (root, info), problems) or name,
            description=read_description(root, info, problems),
            version=read_version(root, info, problems),
            spec_version=read_spec_version(root, problems),
            provider=read_provider((root, info), problems),
            capabilities=(
                *read_capabilities(server, problems, path),
                *read_documentation((root, info), problems),
                *build_transports_feature(transports, path),
            ),
        )


def read_capabilities(
    server: Document, problems: Problems, path: str
) -> Iterator[CapabilityRecord]:
    """Yield the listed tools, resources and prompts, and the features of the flags."""
    tools = list(read_tools(server, problems, path))
    yield from tools
    yield from read_resources(server, problems, path)
    yield from read_prompts(server, problems, path)
    yield from read_flags(server, problems, path)
    yield from imply_tools_supported(server, bool(tools), path)


def read_first_text(
    key: str, objects: tuple[LocatedObject, ...], problems: Problems
) -> str:
    """Return the member of the first object in which it is not blank, or ''."""
    for members, path in objects:
        text = problems.string(members, key, path)
        if text.strip():
            return text
    return ""


def read_description(
    root: LocatedObject, info: LocatedObject, problems: Problems
) -> str:
    """Return the description, or the instructions for clients if there is none."""
    if description := read_first_text("description", (root, info), problems):
        return description
    instructions = read_first_text("instructions", (root,), problems)
    if error := find_length_error(instructions, DESCRIPTION_LIMIT):
        message = f"{error}; not used as the description"
        problems.warning(member_path(root.path, "instructions"), message)
        return ""
    return instructions


def read_version(root: LocatedObject, info: LocatedObject, problems: Problems) -> str:
    server, path = root
    version_detail = problems.object(server, "version_detail", path)
    detail = LocatedObject(version_detail, member_path(path, "version_detail"))
    objects = [root, detail, info]
    schema = server.get("$schema")
    if isinstance(schema, str) and CARD_SCHEMA_PART in schema:
        objects = [info, root]
    for members, members_path in objects:
        version = problems.string(members, "version", members_path)
        if PLACEHOLDER.search(version):
            message = "contains a placeholder instead of a version; ignored"
            problems.warning(member_path(members_path, "version"), message)
        elif version.strip():
            return version
    return ""


def read_spec_version(root: LocatedObject, problems: Problems) -> str:
    """Return the revision of the protocol, else that of the registry's schema."""
    schema_date = SCHEMA_DATE.search(read_first_text("$schema", (root,), problems))
    revision = read_first_text("protocolVersion", (root,), problems)
    return revision or (schema_date[1] if schema_date else "")


def read_provider(
    objects: tuple[LocatedObject, ...], problems: Problems
) -> ProviderRecord | None:
    """Return the first provider or vendor in the document or its serverInfo."""
    for located in objects:
        for key in ("provider", "vendor"):
            if provider := read_organization(located, key, problems):
                return provider
    return None


def read_organization(
    located: LocatedObject, key: str, problems: Problems
) -> ProviderRecord | None:
    """Return the provider from an object or from the name of an organization."""
    members, path = located
    value, value_path = members.get(key), member_path(path, key)
    if isinstance(value, dict):
        organization = problems.string(value, "organization", value_path).strip()
        if not organization:
            organization = problems.string(value, "name", value_path).strip()
        url = problems.url(value, "url", value_path)
        if not organization:
            problems.warning(value_path, "has no organization; ignored")
    else:
        organization = problems.string(members, key, path).strip()
        url = problems.url(members, "homepage", path) if organization else ""
    return ProviderRecord(organization, url=url) if organization else None


def read_flags(
    server: Document, problems: Problems, path: str
) -> Iterator[AgentFeature]:
    """Yield the declared flags; a missing flag is unknown, not false."""
    flags_path = member_path(path, "capabilities")
    for key, value in problems.object(server, "capabilities", path).items():
        flag_path = member_path(flags_path, key)
        name = TOOLS_SUPPORTED if key == "tools" else f"mcp.{key}"
        if isinstance(value, (bool, dict)):
            yield AgentFeature(name=name, value=value is not False, path=flag_path)
        elif value is not None:
            message = "should be true, false or an object; ignored"
            problems.warning(flag_path, message)
        if isinstance(value, dict):
            yield from read_subflags(f"mcp.{key}", value, problems, flag_path)


def read_subflags(
    name: str, flags: Document, problems: Problems, path: str
) -> Iterator[AgentFeature]:
    for key in ("listChanged", "subscribe"):
        value = problems.boolean(flags, key, path)
        if value is not None:
            flag_path = member_path(path, key)
            yield AgentFeature(name=f"{name}.{key}", value=value, path=flag_path)


def imply_tools_supported(
    server: Document, has_tools: bool, path: str
) -> Iterator[AgentFeature]:
    """Yield the feature for a server that lists tools without declaring the flag."""
    flags = server.get("capabilities")
    is_declared = isinstance(flags, dict) and isinstance(
        flags.get("tools"), bool | dict
    )
    if has_tools and not is_declared:
        tools_path = member_path(path, "tools")
        yield AgentFeature(name=TOOLS_SUPPORTED, value=True, path=tools_path)


def read_documentation(
    objects: tuple[LocatedObject, ...], problems: Problems
) -> Iterator[AgentFeature]:
    """Yield the URL of the documentation, else that of the website, if there is one."""
    for key in DOCUMENTATION_MEMBERS:
        for members, path in objects:
            if url := problems.url(members, key, path):
                name, url_path = "identity.documentationUrl", member_path(path, key)
                yield AgentFeature(name=name, value=url, path=url_path)
                return


def build_transports_feature(
    transports: list[Transport], path: str
) -> Iterator[AgentFeature]:
    types = sorted({transport.type for transport in transports} - {""})
    if types:
        yield AgentFeature(name="mcp.transports", value=types, path=path)

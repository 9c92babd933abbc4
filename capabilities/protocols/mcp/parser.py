"""The parser for MCP servers: registry entries, server cards, introspected servers."""

import re
from collections.abc import Iterator

from ...connections import Connection
from ...features import AgentFeature
from ...health_requests import HealthRequest
from ...parsers import Parser
from ...placeholders import find_name_template_error
from ...problems import Document, Problems, member_path
from ...records import (
    DESCRIPTION_LIMIT,
    AgentRecord,
    CapabilityRecord,
    ProviderRecord,
    find_length_error,
    is_web_url,
)
from .addresses import (
    ServerEndpointPolicy,
    get_former_identities,
    read_all_transports,
)
from .connection import build_connection
from .detection import is_server
from .nested_servers import read_nested_servers
from .primitives import read_prompts, read_resources, read_tools
from .records import KINDS
from .registry_response import LocatedObject, unwrap_server
from .requests import build_health_requests
from .server_json_rules import find_server_json_problems, is_server_json
from .stub import MCPStubBuilder
from .transports import VARIABLE, Transport, read_endpoint

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
    "protocol_version",
    "provider",
    "remotes",
    "repository",
    "requires",
    "resourceTemplates",
    "resources",
    "serverInfo",
    "serverUrl",
    "sse_url",
    "status",
    "title",
    "tools",
    "transport",
    "transports",
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
TRANSPORTS = "mcp.transports"
# The features that AG-UI does not define: those of the specification.
SERVER_FEATURE_NAMES = (
    TRANSPORTS,
    "mcp.completions",
    "mcp.experimental",
    "mcp.extensions",
    "mcp.logging",
    "mcp.prompts",
    "mcp.prompts.listChanged",
    "mcp.resources",
    "mcp.resources.listChanged",
    "mcp.resources.subscribe",
    "mcp.tasks",
    "mcp.tools.listChanged",
)
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
    feature_names = SERVER_FEATURE_NAMES
    kinds = KINDS
    endpoint_policy = ServerEndpointPolicy()
    stub_builder = MCPStubBuilder()

    def can_be_probed(self, endpoint: str) -> bool:
        """Return whether the endpoint is a URL that clients need not complete."""
        return is_web_url(endpoint) and not VARIABLE.search(endpoint)

    def recognizes(self, document: Document) -> bool:
        return is_server(unwrap_server(document).members)

    def health_requests(
        self, endpoint: str, definition_url: str
    ) -> list[HealthRequest]:
        return build_health_requests(endpoint)

    def build_connection(self, document: Document, record: AgentRecord) -> Connection:
        return build_connection(unwrap_server(document).members, record)

    def parse(self, document: Document, problems: Problems) -> AgentRecord:
        root = unwrap_server(document)
        nested = read_nested_servers(root, problems)
        parts = (root, *nested)
        warn_unknown_members(root, nested, problems)
        server_info = problems.object(root.members, "serverInfo", root.path)
        info = LocatedObject(server_info, member_path(root.path, "serverInfo"))
        objects = (root, info, *nested)
        name = read_name(objects, problems)
        transports = read_all_transports(root, nested, problems)
        endpoint = read_endpoint(transports, name, problems, root.path)
        record = AgentRecord(
            protocol=self.slug,
            endpoint=endpoint,
            former_identities=get_former_identities(transports, endpoint),
            name=read_first_text("title", objects, problems) or name,
            description=read_description(objects, problems),
            version=read_version(objects, problems),
            spec_version=read_spec_version(parts, problems),
            provider=read_provider(objects, problems),
            capabilities=(
                *read_capabilities(parts, problems),
                *read_documentation(objects, problems),
                *build_transports_feature(transports, root.path),
            ),
        )
        warn_of_broken_rules(root, problems)
        return record


def warn_of_broken_rules(root: LocatedObject, problems: Problems) -> None:
    """Add warnings for what breaks the rules of server.json, if not yet reported."""
    if not is_server_json(root.members):
        return
    reported_paths = {
        problem.path for problem in (*problems.errors, *problems.warnings)
    }
    for problem in find_server_json_problems(root.members, root.path):
        if problem.path not in reported_paths:
            problems.warning(problem.path, problem.message)


def warn_unknown_members(
    root: LocatedObject, nested: list[LocatedObject], problems: Problems
) -> None:
    """Add warnings for the unknown members of the document and of nested servers."""
    read_members = {
        key
        for key in ("server", "servers")
        if any(part.path.startswith(member_path(root.path, key)) for part in nested)
    }
    problems.warn_unknown(root.members, SERVER_MEMBERS | read_members, root.path)
    for part in nested:
        problems.warn_unknown(part.members, SERVER_MEMBERS | {"type"}, part.path)


def read_capabilities(
    parts: tuple[LocatedObject, ...], problems: Problems
) -> Iterator[CapabilityRecord]:
    """Yield the listed tools, resources and prompts, and the features of the flags."""
    for members, path in parts:
        yield from read_tools(members, problems, path)
        yield from read_resources(members, problems, path)
        yield from read_prompts(members, problems, path)
        yield from read_flags(members, problems, path)
    yield from imply_tools_supported(parts)


def read_first_text(
    key: str, objects: tuple[LocatedObject, ...], problems: Problems
) -> str:
    """Return the member of the first object in which it is not blank, or ''."""
    for members, path in objects:
        text = problems.string(members, key, path)
        if text.strip():
            return text
    return ""


def read_name(objects: tuple[LocatedObject, ...], problems: Problems) -> str:
    """Return the name; add an error if it is an unfilled template."""
    for members, path in objects:
        if name := read_first_text("name", (LocatedObject(members, path),), problems):
            if message := find_name_template_error(name):
                problems.error(member_path(path, "name"), message)
            return name
    return ""


def read_description(objects: tuple[LocatedObject, ...], problems: Problems) -> str:
    """Return the description, or the instructions for clients if there is none."""
    if description := read_first_text("description", objects, problems):
        return description
    root = objects[0]
    instructions = read_first_text("instructions", (root,), problems)
    if error := find_length_error(instructions, DESCRIPTION_LIMIT):
        message = f"{error}; not used as the description"
        problems.warning(member_path(root.path, "instructions"), message)
        return ""
    return instructions


def read_version(objects: tuple[LocatedObject, ...], problems: Problems) -> str:
    root, info, *nested = objects
    server, path = root
    version_detail = problems.object(server, "version_detail", path)
    detail = LocatedObject(version_detail, member_path(path, "version_detail"))
    candidates = [root, detail, info, *nested]
    schema = server.get("$schema")
    if isinstance(schema, str) and CARD_SCHEMA_PART in schema:
        candidates = [info, root]
    for members, members_path in candidates:
        version = problems.string(members, "version", members_path)
        if PLACEHOLDER.search(version):
            message = "contains a placeholder instead of a version; ignored"
            problems.warning(member_path(members_path, "version"), message)
        elif version.strip():
            return version
    return ""


def read_spec_version(parts: tuple[LocatedObject, ...], problems: Problems) -> str:
    """Return the revision of the protocol, else that of the registry's schema."""
    for key in ("protocolVersion", "protocol_version"):
        if revision := read_first_text(key, parts, problems):
            return revision
    schema_date = SCHEMA_DATE.search(read_first_text("$schema", parts, problems))
    return schema_date[1] if schema_date else ""


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


def imply_tools_supported(parts: tuple[LocatedObject, ...]) -> Iterator[AgentFeature]:
    """Yield the feature for a server that lists tools without declaring the flag."""
    for members, _ in parts:
        flags = members.get("capabilities")
        if isinstance(flags, dict) and isinstance(flags.get("tools"), bool | dict):
            return
    for members, path in parts:
        tools = members.get("tools")
        if isinstance(tools, list) and tools not in ([], ["dynamic"]):
            tools_path = member_path(path, "tools")
            yield AgentFeature(name=TOOLS_SUPPORTED, value=True, path=tools_path)
            return


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
        yield AgentFeature(name=TRANSPORTS, value=types, path=path)

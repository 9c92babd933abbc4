"""The parser for configuration agents, which are declared in front matter."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ...connections import Connection
from ...kinds import Kind
from ...parsers import Parser
from ...problems import Document, Problems, member_path
from ...records import AgentRecord, CapabilityRecord
from ...validators import find_registration_name_error

CONFIG_MEMBERS = {
    "capabilities",
    "capability_metadata",
    "description",
    "name",
    "requires",
    "version",
}
# Members of definitions of other protocols.
OTHER_PROTOCOL_MEMBERS = {
    "packages",
    "peer_id",
    "protocolVersion",
    "remotes",
    "serverInfo",
    "serverUrl",
    "supportedInterfaces",
}
# Members of services. In JSON, many formats have a name and a list of capabilities.
SERVICE_MEMBERS = {
    "$schema",
    "agents",
    "api",
    "api_url",
    "apiUrl",
    "auth",
    "authentication",
    "base_url",
    "baseUrl",
    "defaultInputModes",
    "defaultOutputModes",
    "endpoint",
    "endpoints",
    "identity",
    "interfaces",
    "mcpServers",
    "openapi",
    "prompts",
    "protocol",
    "protocol_version",
    "protocols",
    "provider",
    "resources",
    "schema_version",
    "securitySchemes",
    "server",
    "servers",
    "skills",
    "sse_url",
    "tools",
    "transport",
    "transports",
    "url",
    "urls",
}
# A name with a version, such as `data-analysis:v1.2`.
VERSIONED_NAME = re.compile(
    r"(.*):v?([0-9]{1,9})(?:\.([0-9]{1,9}))?(?:\.([0-9]{1,9}))?"
)


@dataclass(frozen=True, kw_only=True)
class ConfigCapability(CapabilityRecord):
    kind: ClassVar[str] = "config.capability"

    metadata: dict[str, Any] = field(default_factory=dict)
    version: str | None = None


class ConfigParser(Parser):
    slug = "config"
    label = "Configuration agent"
    source = "config"
    accepts_yaml_and_toml = True
    media_type = "text/plain; charset=utf-8"
    kinds = (
        Kind(
            "config.capability",
            "Config Capability",
            "config",
            ConfigCapability,
            discoverable=True,
            icon="sparkles",
            is_removal_breaking=True,
        ),
    )

    def recognizes(self, document: Document) -> bool:
        """Return whether the document names capabilities and describes no service."""
        is_service = bool(SERVICE_MEMBERS & document.keys())
        return not is_service and self.recognizes_yaml_or_toml(document)

    def recognizes_yaml_or_toml(self, document: Document) -> bool:
        """Return whether the document names capabilities."""
        names = document.get("capabilities")
        if OTHER_PROTOCOL_MEMBERS & document.keys() or not isinstance(names, list):
            return False
        has_members = {"name", "capability_metadata"} & document.keys()
        return bool(has_members) and not any(isinstance(name, dict) for name in names)

    def build_connection(self, document: Document, record: AgentRecord) -> Connection:
        return Connection(
            unavailable_reason="The agent has no URL: it runs wherever its"
            " definition is loaded."
        )

    def parse(self, document: Document, problems: Problems) -> AgentRecord:
        problems.warn_unknown(document, CONFIG_MEMBERS)
        name = problems.required_string(document, "name")
        return AgentRecord(
            protocol=self.slug,
            endpoint=f"config:{name}",
            name=name,
            description=problems.string(document, "description"),
            version=read_version(document, problems),
            capabilities=tuple(read_capabilities(document, problems)),
        )


def read_version(document: Document, problems: Problems) -> str:
    """Return the version as a string; warn about a number, since 1.10 becomes 1.1."""
    version = document.get("version")
    if isinstance(version, (int, float)) and not isinstance(version, bool):
        problems.warning("$.version", f"should be in quotes; read as {version}")
        return str(version)
    return problems.string(document, "version")


def read_capabilities(
    document: Document, problems: Problems
) -> Iterator[ConfigCapability]:
    """Yield each listed capability once, with its metadata."""
    metadata = read_metadata(document, problems)
    unused_keys, seen_names = set(metadata), set[str]()
    for path, text in iter_listed_names(document, problems):
        name, version = read_name(text, problems, path)
        unused_keys -= {text, name}
        if name in seen_names:
            problems.warning(path, f"{name!r} is already listed; ignored")
        elif name:
            seen_names.add(name)
            key = text if text in metadata else name
            yield ConfigCapability(
                name=name, metadata=metadata.get(key, {}), version=version, path=path
            )
    for key in sorted(unused_keys):
        key_path = member_path("$.capability_metadata", key)
        problems.warning(key_path, "is not a listed capability; ignored")


def iter_listed_names(
    document: Document, problems: Problems
) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each string in the list of capabilities."""
    values = document.get("capabilities")
    if not isinstance(values, list) or not values:
        problems.error("$.capabilities", "must be a non-empty list of names")
        return
    for n, value in enumerate(values):
        if isinstance(value, str):
            yield f"$.capabilities[{n}]", value
        else:
            problems.error(f"$.capabilities[{n}]", "must be a string")


def read_name(text: str, problems: Problems, path: str) -> tuple[str, str | None]:
    """Return the name, '' if it is invalid, and the version appended to it."""
    name, version = text, None
    if match := VERSIONED_NAME.fullmatch(text):
        name, version = match[1], build_semantic_version(match.groups("0")[1:])
    if error := find_registration_name_error(name):
        problems.error(path, error)
        return "", None
    if version:
        message = f"should not contain a version; read as {name!r}, version {version}"
        problems.warning(path, message)
    return name, version


def build_semantic_version(parts: tuple[str, ...]) -> str:
    """Return the version without leading zeros in its parts."""
    return ".".join(str(int(part)) for part in parts)


def read_metadata(document: Document, problems: Problems) -> Document:
    """Return the metadata objects by key; warn of other values and leave them out."""
    metadata = problems.object(document, "capability_metadata")
    for key, value in metadata.items():
        if value is not None and not isinstance(value, dict):
            key_path = member_path("$.capability_metadata", key)
            problems.warning(key_path, "should be an object; ignored")
    return {key: value for key, value in metadata.items() if isinstance(value, dict)}

"""Configuration agents: a text whose YAML or TOML front matter declares the agent."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ...connections import Connection
from ...kinds import Kind
from ...parsers import Parser
from ...problems import Document, Problems, member_path
from ...records import AgentRecord, CapabilityRecord
from ...validators import capability_name_error

MEMBERS = {
    "capabilities",
    "capability_metadata",
    "description",
    "name",
    "requires",
    "version",
}
# An agent with an address, or a card of another protocol, is no configuration.
FOREIGN = {
    "endpoint",
    "packages",
    "peer_id",
    "protocolVersion",
    "remotes",
    "serverInfo",
    "serverUrl",
    "skills",
    "supportedInterfaces",
    "url",
}
VERSIONED = re.compile(r"(.*):v?([0-9]{1,9})(?:\.([0-9]{1,9}))?(?:\.([0-9]{1,9}))?")


@dataclass(frozen=True, kw_only=True)
class ConfigCapability(CapabilityRecord):
    kind: ClassVar[str] = "config.capability"

    metadata: dict[str, Any] = field(default_factory=dict)
    version: str | None = None


class ConfigParser(Parser):
    slug = "config"
    label = "Configuration agent"
    detection_hint = "front matter needs `name` and a list of `capabilities`"
    source = "config"
    accepts_front_matter = True
    media_type = "text/plain; charset=utf-8"
    kinds = (
        Kind(
            "config.capability",
            "Config Capability",
            "config",
            ConfigCapability,
            discoverable=True,
            icon="sparkles",
            removal_breaks_clients=True,
        ),
    )

    def recognizes(self, document: Document) -> bool:
        """By a list of names: what other protocols call so is an object."""
        listed = document.get("capabilities")
        if FOREIGN & document.keys() or not isinstance(listed, list):
            return False
        declared = {"name", "capability_metadata"} & document.keys()
        return bool(declared) and not any(isinstance(item, dict) for item in listed)

    def build_connection(self, document: Document, record: AgentRecord) -> Connection:
        words = "There is no address: the agent runs wherever its definition is loaded."
        return Connection(unavailable_reason=words)

    def parse(self, document: Document, problems: Problems) -> AgentRecord:
        problems.warn_unknown(document, MEMBERS)
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
    """A text; without quotes it was a number, and 1.10 has become 1.1."""
    version = document.get("version")
    if isinstance(version, (int, float)) and not isinstance(version, bool):
        problems.warning("$.version", f"should be in quotes; read as {version}")
        return str(version)
    return problems.string(document, "version")


def read_capabilities(
    document: Document, problems: Problems
) -> Iterator[ConfigCapability]:
    """Each declared name once, with what is said of it elsewhere."""
    about = read_metadata(document, problems)
    unclaimed, taken = set(about), set[str]()
    for path, stated in listed_names(document, problems):
        name, version = read_name(path, stated, problems)
        unclaimed -= {stated, name}
        if name in taken:
            problems.warning(path, f"{name!r} is listed already; kept once")
        elif name:
            taken.add(name)
            said = about[stated] if stated in about else about.get(name, {})
            yield ConfigCapability(name=name, metadata=said, version=version, path=path)
    for key in sorted(unclaimed):
        place = member_path("$.capability_metadata", key)
        problems.warning(place, "there is no such capability; ignored")


def listed_names(document: Document, problems: Problems) -> Iterator[tuple[str, str]]:
    values = document.get("capabilities")
    if not isinstance(values, list) or not values:
        problems.error("$.capabilities", "must be a non-empty list of names")
        return
    for n, value in enumerate(values):
        if isinstance(value, str):
            yield f"$.capabilities[{n}]", value
        else:
            problems.error(f"$.capabilities[{n}]", "must be a string")


def read_name(path: str, stated: str, problems: Problems) -> tuple[str, str | None]:
    """The name, '' for one that will not do, and the version tacked on to it."""
    name, version = stated, None
    if found := VERSIONED.fullmatch(stated):
        name, version = found[1], semantic(found.groups("0")[1:])
    if fault := capability_name_error(name):
        problems.error(path, fault)
        return "", None
    if version:
        message = f"names have no versions; read as {name!r} in version {version}"
        problems.warning(path, message)
    return name, version


def semantic(parts: tuple[str, ...]) -> str:
    """Three numbers, without zeros in front."""
    return ".".join(str(int(part)) for part in parts)


def read_metadata(document: Document, problems: Problems) -> Document:
    """What is said of each capability; what is no object is told and left out."""
    stated = problems.object(document, "capability_metadata")
    for key, value in stated.items():
        if value is not None and not isinstance(value, dict):
            place = member_path("$.capability_metadata", key)
            problems.warning(place, "should be an object; ignored")
    return {key: value for key, value in stated.items() if isinstance(value, dict)}

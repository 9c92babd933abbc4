"""The parsed content of a definition as frozen values, without database or HTTP."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

CAPABILITY_NAME_LIMIT = 500
DESCRIPTION_LIMIT = 20_000
ENDPOINT_LIMIT = 2_000
DISPLAY_NAME_LIMIT = 300
AGENT_VERSION_LIMIT = 255
CAPABILITY_LIMIT = 5_000
WEB_SCHEMES = ("http://", "https://")
LOOPBACK_HOST = re.compile(r"(.+\.)?localhost|127(\.[0-9]+){3}|0\.0\.0\.0|::1?")


def find_length_error(text: str, limit: int) -> str:
    """Return the message for a text over its limit, or ''."""
    if len(text) <= limit:
        return ""
    return f"must have at most {limit} characters, but has {len(text)}"


def is_web_url(endpoint: str) -> bool:
    return endpoint.lower().startswith(WEB_SCHEMES)


def is_loopback_host(host: str) -> bool:
    """Return whether a host, in lower case, is the machine that connects to it."""
    return LOOPBACK_HOST.fullmatch(host) is not None


@dataclass(frozen=True, kw_only=True)
class CapabilityRecord:
    """One thing an agent can do; subclasses add the properties of their kind."""

    kind: ClassVar[str]
    # "tool", "subagent" or "", the same in all protocols.
    role: ClassVar[str] = ""
    # Whether an agent without a name may be shown under the name of this capability.
    can_name_agent: ClassVar[bool] = True

    name: str
    description: str = ""
    # The JSON path in the definition. Records at different paths may be equal.
    path: str = field(default="$", compare=False, repr=False)

    @classmethod
    def from_stored(
        cls, name: str, description: str, properties: Mapping[str, Any]
    ) -> Self:
        """Return the record of a stored capability; unknown properties are ignored."""
        own_fields = {field.name for field in fields(cls)} - COMMON_FIELDS
        values = {key: value for key, value in properties.items() if key in own_fields}
        return cls(name=name, description=description, **values)

    @property
    def properties(self) -> dict[str, Any]:
        """The kind's own fields as JSON values, without those that are None."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value
            for name, value in values.items()
            if name not in COMMON_FIELDS and value is not None
        }

    def validate(self) -> Iterator[str]:
        """Yield a message for each reason why the record cannot be stored."""
        if not self.name.strip():
            yield "must have a name"
        if message := find_length_error(self.name, CAPABILITY_NAME_LIMIT):
            yield f"name {message}"
        if message := find_length_error(self.description, DESCRIPTION_LIMIT):
            yield f"description {message}"

    def disambiguated_name(self) -> str:
        """Return the name to use when another capability of the kind has the same."""
        return self.name


COMMON_FIELDS = frozenset(field.name for field in fields(CapabilityRecord))


@dataclass(frozen=True, slots=True)
class ProviderRecord:
    organization: str
    team: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRecord:
    """An agent, parsed from one definition."""

    protocol: str
    endpoint: str
    name: str = ""
    description: str = ""
    version: str = ""
    spec_version: str = ""
    provider: ProviderRecord | None = None
    capabilities: tuple[CapabilityRecord, ...] = ()
    # What the agent is identified by, if not by its endpoint exactly as written.
    identity: str = ""
    # Under which identities earlier versions of AgentLens stored the agent.
    former_identities: tuple[str, ...] = ()

    @property
    def identifier(self) -> str:
        """What identifies the agent within its protocol."""
        return self.identity or self.endpoint

    @property
    def has_address(self) -> bool:
        """Whether the endpoint is an address, and not `protocol:name`."""
        return bool(self.endpoint) and not self.endpoint.startswith(f"{self.protocol}:")

    def validate(self) -> Iterator[tuple[str, str]]:
        """Yield path and message of each text that is too long."""
        provider = self.provider or ProviderRecord("")
        for path, text, limit in (
            ("$.name", self.name, DISPLAY_NAME_LIMIT),
            ("$.description", self.description, DESCRIPTION_LIMIT),
            ("$.version", self.version, AGENT_VERSION_LIMIT),
            ("$.protocolVersion", self.spec_version, AGENT_VERSION_LIMIT),
            ("$.url", self.endpoint, ENDPOINT_LIMIT),
            ("$.provider", provider.organization, DISPLAY_NAME_LIMIT),
        ):
            if message := find_length_error(text, limit):
                yield path, message

    def with_updated_capabilities(
        self, updates: Iterable[CapabilityRecord]
    ) -> "AgentRecord":
        """Return a copy where updates replace capabilities with the same name.

        Updates with a new name are appended.
        """
        new = {capability.name: capability for capability in updates}
        updated = [
            new.pop(capability.name, capability) for capability in self.capabilities
        ]
        return replace(self, capabilities=(*updated, *new.values()))

    @property
    def display_name(self) -> str:
        """The name of the agent, else that of a capability, else the endpoint."""
        capability_names = (
            capability.name
            for capability in self.capabilities
            if capability.can_name_agent
        )
        names = (self.name, next(capability_names, ""), self.endpoint)
        return next((name for name in names if name.strip()), "")[:DISPLAY_NAME_LIMIT]

"""What a definition says, as plain frozen values: no database, no HTTP."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

NAME_LIMIT = 500
DESCRIPTION_LIMIT = 20_000
ENDPOINT_LIMIT = 2_000
DISPLAY_NAME_LIMIT = 300
VERSION_LIMIT = 255
CAPABILITY_LIMIT = 5_000


def too_long(text: str, limit: int) -> str:
    """The message for a text over its limit, or an empty string."""
    if len(text) <= limit:
        return ""
    return f"must be at most {limit} characters, is {len(text)}"


WEB = ("http://", "https://")


def is_web(endpoint: str) -> bool:
    return endpoint.lower().startswith(WEB)


@dataclass(frozen=True, kw_only=True)
class CapabilityRecord:
    """One thing an agent can do; subclasses add the properties of their kind."""

    kind: ClassVar[str]
    # What it is to one who asks for tools or sub-agents: "tool", "subagent" or neither.
    role: ClassVar[str] = ""
    # Whether an agent without a name of its own may be called by it.
    names_its_agent: ClassVar[bool] = True

    name: str
    description: str = ""
    # Where in the definition it stands; not part of what it is.
    path: str = field(default="$", compare=False, repr=False)

    @classmethod
    def of(cls, name: str, description: str, properties: Mapping[str, Any]) -> Self:
        """Made again from the three values that are stored."""
        known = {f.name for f in fields(cls)} - CORE
        given = {key: value for key, value in properties.items() if key in known}
        return cls(name=name, description=description, **given)

    @property
    def properties(self) -> dict[str, Any]:
        """The kind's own fields as JSON values; unset (None) ones are left out."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        return {k: v for k, v in own.items() if k not in CORE and v is not None}

    def validate(self) -> Iterator[str]:
        """What is wrong with it, in words; nothing when it may be stored."""
        if not self.name.strip():
            yield "needs a name"
        if message := too_long(self.name, NAME_LIMIT):
            yield f"name {message}"
        if message := too_long(self.description, DESCRIPTION_LIMIT):
            yield f"description {message}"

    def telling_name(self) -> str:
        """The name it takes when another of its kind already has the plain one."""
        return self.name


CORE = frozenset(f.name for f in fields(CapabilityRecord))


@dataclass(frozen=True, slots=True)
class ProviderRecord:
    organization: str
    team: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRecord:
    """What an agent is, read from one definition."""

    protocol: str
    endpoint: str
    name: str = ""
    description: str = ""
    version: str = ""
    spec_version: str = ""
    provider: ProviderRecord | None = None
    capabilities: tuple[CapabilityRecord, ...] = ()

    def validate(self) -> Iterator[tuple[str, str]]:
        """Which of its own texts are too long: the member's path and the message."""
        provider = self.provider or ProviderRecord("")
        for path, text, limit in (
            ("$.name", self.name, DISPLAY_NAME_LIMIT),
            ("$.description", self.description, DESCRIPTION_LIMIT),
            ("$.version", self.version, VERSION_LIMIT),
            ("$.protocolVersion", self.spec_version, VERSION_LIMIT),
            ("$.url", self.endpoint, ENDPOINT_LIMIT),
            ("$.provider", provider.organization, DISPLAY_NAME_LIMIT),
        ):
            if message := too_long(text, limit):
                yield path, message

    def enriched(self, better: Iterable[CapabilityRecord]) -> "AgentRecord":
        """The same; where one of these has the name of its own, that stands instead."""
        rest = {one.name: one for one in better}
        both = [rest.pop(one.name, one) for one in self.capabilities]
        return replace(self, capabilities=(*both, *rest.values()))

    @property
    def display_name(self) -> str:
        """The definition's own name, else the first capability's, else the endpoint."""
        offers = (c.name for c in self.capabilities if c.names_its_agent)
        names = (self.name, next(offers, ""), self.endpoint)
        return next((name for name in names if name.strip()), "")[:DISPLAY_NAME_LIMIT]

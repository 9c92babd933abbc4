"""Records and kinds of the capabilities that A2A cards declare."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from ...kinds import Kind, PropertyRule
from ...records import CapabilityRecord

# Alternatives, each a mapping of scheme keys to the required scopes.
SecurityRequirements = list[dict[str, list[str]]]
# The properties of a security scheme that are fields of its record.
SCHEME_FIELDS = ("key", "type", "method")


@dataclass(frozen=True, kw_only=True)
class A2ASkill(CapabilityRecord):
    kind: ClassVar[str] = "a2a.skill"

    id: str = ""
    tags: list[str] = field(default_factory=list)
    input_modes: list[str] = field(default_factory=list)
    output_modes: list[str] = field(default_factory=list)
    security: SecurityRequirements | None = None

    def disambiguated_name(self) -> str:
        return f"{self.name} ({self.id})" if self.id else self.name


@dataclass(frozen=True, kw_only=True)
class A2AInterface(CapabilityRecord):
    kind: ClassVar[str] = "a2a.interface"

    url: str = ""
    binding: str = ""
    protocol_version: str = ""
    tenant: str | None = None

    def disambiguated_name(self) -> str:
        return f"{self.url}#{self.binding}" if self.binding else self.name


@dataclass(frozen=True, kw_only=True)
class A2ASecurityScheme(CapabilityRecord):
    """A security scheme; `fields` has its other members under snake_case names."""

    kind: ClassVar[str] = "a2a.security_scheme"

    key: str = ""
    type: str = ""
    method: str = ""
    fields: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_stored(
        cls, name: str, description: str, properties: Mapping[str, Any]
    ) -> Self:
        return cls(
            name=name,
            description=description,
            key=properties.get("key", ""),
            type=properties.get("type", ""),
            method=properties.get("method", ""),
            fields={
                name: value
                for name, value in properties.items()
                if name not in SCHEME_FIELDS
            },
        )

    @property
    def properties(self) -> dict[str, Any]:
        return self.fields | {
            "key": self.key,
            "type": self.type,
            "method": self.method,
        }

    def disambiguated_name(self) -> str:
        return f"{self.name} ({self.key})" if self.key else self.name


@dataclass(frozen=True, kw_only=True)
class A2AExtension(CapabilityRecord):
    kind: ClassVar[str] = "a2a.extension"

    uri: str = ""
    required: bool = False
    params: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class A2ASignature(CapabilityRecord):
    kind: ClassVar[str] = "a2a.signature"

    algorithm: str = ""
    key_id: str = ""
    protected: str = ""
    signature: str = ""
    header: dict[str, Any] | None = None

    def disambiguated_name(self) -> str:
        return f"{self.algorithm}:{self.key_id}" if self.key_id else self.name


KINDS = (
    Kind(
        "a2a.skill",
        "A2A Skill",
        "a2a",
        A2ASkill,
        discoverable=True,
        icon="sparkles",
        list_properties=("tags", "input_modes", "output_modes"),
        search_properties=("tags",),
        is_removal_breaking=True,
        rules={
            "input_modes": PropertyRule.OPTIONS,
            "output_modes": PropertyRule.OPTIONS,
            "security": PropertyRule.SECURITY_REQUIREMENTS,
        },
    ),
    Kind(
        "a2a.interface",
        "A2A Interface",
        "a2a",
        A2AInterface,
        discoverable=False,
        icon="plug",
        is_removal_breaking=True,
        rules=dict.fromkeys(
            ("url", "binding", "protocol_version", "tenant"), PropertyRule.FIXED
        ),
    ),
    Kind(
        "a2a.security_scheme",
        "A2A Security Scheme",
        "a2a",
        A2ASecurityScheme,
        discoverable=False,
        icon="lock",
        is_removal_breaking=True,
        identity_property="key",
        rules={
            "type": PropertyRule.FIXED,
            "scheme": PropertyRule.FIXED,
            "location": PropertyRule.FIXED,
            "parameter_name": PropertyRule.FIXED,
            "flows": PropertyRule.OPTIONS,
            "method": PropertyRule.DERIVED,
        },
    ),
    Kind(
        "a2a.extension",
        "A2A Extension",
        "a2a",
        A2AExtension,
        discoverable=False,
        icon="puzzle",
        rules={"required": PropertyRule.DEMAND},
    ),
    Kind(
        "a2a.signature",
        "A2A Signature",
        "a2a",
        A2ASignature,
        discoverable=False,
        icon="pen",
    ),
)

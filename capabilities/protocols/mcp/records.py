"""Records and kinds of MCP capabilities."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ...kinds import Kind, PropertyRule
from ...records import CapabilityRecord


@dataclass(frozen=True, kw_only=True)
class MCPTool(CapabilityRecord):
    kind: ClassVar[str] = "mcp.tool"
    role: ClassVar[str] = "tool"

    title: str | None = None
    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None
    execution: dict[str, Any] | None = None
    icons: list[dict[str, Any]] | None = None
    meta: dict[str, Any] | None = None

    @property
    def parameters(self) -> dict[str, Any] | None:
        return self.input_schema


@dataclass(frozen=True, kw_only=True)
class MCPResource(CapabilityRecord):
    """A resource, or a template for resources. Only URIs are unique, names are not."""

    kind: ClassVar[str] = "mcp.resource"

    uri: str | None = None
    uri_template: str | None = None
    template: bool | None = None
    mime_type: str | None = None
    size: int | None = None
    title: str | None = None
    annotations: dict[str, Any] | None = None
    icons: list[dict[str, Any]] | None = None
    meta: dict[str, Any] | None = None

    def disambiguated_name(self) -> str:
        address = self.uri or self.uri_template
        return f"{self.name} ({address})" if address else self.name


@dataclass(frozen=True, kw_only=True)
class MCPPrompt(CapabilityRecord):
    kind: ClassVar[str] = "mcp.prompt"

    title: str | None = None
    arguments: list[dict[str, Any]] | None = None
    icons: list[dict[str, Any]] | None = None
    meta: dict[str, Any] | None = None


KINDS = (
    Kind(
        "mcp.tool",
        "MCP Tool",
        "mcp",
        MCPTool,
        discoverable=True,
        icon="wrench",
        search_properties=("title",),
        is_removal_breaking=True,
        rules={
            "input_schema": PropertyRule.INPUT_SCHEMA,
            "output_schema": PropertyRule.OUTPUT_SCHEMA,
        },
    ),
    Kind(
        "mcp.resource",
        "MCP Resource",
        "mcp",
        MCPResource,
        discoverable=True,
        icon="file",
        search_properties=("title",),
        is_removal_breaking=True,
        rules={
            "uri": PropertyRule.FIXED,
            "uri_template": PropertyRule.FIXED,
        },
    ),
    Kind(
        "mcp.prompt",
        "MCP Prompt",
        "mcp",
        MCPPrompt,
        discoverable=True,
        icon="message",
        search_properties=("title",),
        is_removal_breaking=True,
        rules={"arguments": PropertyRule.ARGUMENTS},
    ),
)

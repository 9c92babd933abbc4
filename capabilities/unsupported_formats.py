"""Known formats that AgentLens does not support, and what to register instead.

Signs are checked only in documents that no parser recognizes.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .problems import Document, Problem

ValueTest = Callable[[Any], bool]
# Longer texts are not searched for signs.
TEXT_HEAD_LENGTH = 2_000


@dataclass(frozen=True, slots=True)
class UnsupportedFormat:
    """A format by name. All members of one of `signs` must pass their tests."""

    label: str
    hint: str
    signs: tuple[Mapping[str, ValueTest], ...]
    is_yaml: bool = False

    @property
    def message(self) -> str:
        return f"is {self.label}, which is not supported; {self.hint}"


def is_present(value: Any) -> bool:
    return value is not None


def is_object(value: Any) -> bool:
    return isinstance(value, dict)


def is_list(value: Any) -> bool:
    return isinstance(value, list)


def is_string(value: Any) -> bool:
    return isinstance(value, str)


def is_string_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def is_map_of_objects(value: Any) -> bool:
    return isinstance(value, dict) and all(map(is_object, value.values()))


def is_list_with(member: str) -> ValueTest:
    """Return a test for lists in which an object has this member."""
    return lambda value: (
        isinstance(value, list)
        and any(isinstance(item, dict) and member in item for item in value)
    )


def is_object_with(member: str) -> ValueTest:
    return lambda value: isinstance(value, dict) and member in value


def matches(pattern: str) -> ValueTest:
    """Return a test for strings that contain a match of the pattern."""
    compiled = re.compile(pattern)
    return lambda value: isinstance(value, str) and bool(compiled.search(value))


REGISTER_SERVERS = "register each of its servers separately, by its URL"
REGISTER_AGENT = (
    "if it describes an agent, register the A2A card or the MCP server of that agent"
)

UNSUPPORTED_FORMATS = (
    UnsupportedFormat(
        "an OpenAPI description",
        REGISTER_AGENT,
        ({"openapi": is_present}, {"swagger": is_present}),
    ),
    UnsupportedFormat(
        "an AsyncAPI description", REGISTER_AGENT, ({"asyncapi": is_present},)
    ),
    UnsupportedFormat(
        "a list of servers from an MCP registry",
        "register each `server` object in `servers` separately",
        ({"servers": is_list_with("server")},),
    ),
    UnsupportedFormat(
        "an MCP client configuration",
        REGISTER_SERVERS,
        (
            {"mcpServers": is_object},
            {"mcp_servers": is_map_of_objects},
            {"servers": is_map_of_objects},
            {"context_servers": is_map_of_objects},
            {"mcp": is_object_with("servers")},
        ),
    ),
    UnsupportedFormat(
        "the manifest of an MCP bundle (MCPB)",
        "register the server.json of the server, with the bundle as its package",
        (
            {"manifest_version": is_string, "server": is_object},
            {"dxt_version": is_string},
        ),
    ),
    UnsupportedFormat(
        "an agent catalog (ai-catalog.json or ard.json)",
        "register what each of its entries points to separately",
        (
            {"specVersion": is_string, "entries": is_list},
            {"entries": is_list_with("identifier")},
        ),
    ),
    UnsupportedFormat(
        "a Wild Card agents.json",
        REGISTER_AGENT,
        ({"agentsJson": is_present}, {"flows": is_list, "sources": is_list}),
    ),
    UnsupportedFormat(
        "an OASF record",
        "register the A2A card or the MCP server to which it refers",
        (
            {"schema_version": is_string, "locators": is_list},
            {"schema_version": is_string, "modules": is_list},
            {"schema_version": is_string, "skills": is_list_with("class_uid")},
            {"schema_version": is_string, "skills": is_list_with("id")},
        ),
    ),
    UnsupportedFormat(
        "a Smithery record",
        "register the server by its URL, or its server.json",
        ({"qualifiedName": is_string},),
    ),
    UnsupportedFormat(
        "a smithery.yaml",
        "register the server by its URL, or its server.json",
        ({"startCommand": is_object}, {"runtime": is_string, "build": is_object}),
    ),
    UnsupportedFormat(
        "the manifest of a ChatGPT plugin (ai-plugin.json)",
        REGISTER_AGENT,
        ({"name_for_model": is_string},),
    ),
    UnsupportedFormat(
        "a package.json",
        "if the package is an MCP server, register its server.json",
        tuple(
            {"name": is_string, member: is_present}
            for member in ("dependencies", "devDependencies", "scripts", "main", "bin")
        ),
    ),
    UnsupportedFormat(
        "a JSON Schema",
        "register a document that follows the schema",
        (
            {"$schema": matches(r"^https?://json-schema\.org/")},
            {"type": matches("^object$"), "properties": is_object},
        ),
    ),
    UnsupportedFormat(
        "an Agent Skill (SKILL.md)",
        "add a list of `capabilities` to the front matter to register it as a"
        " configuration agent",
        (
            {"name": is_string, "description": is_string, "allowed-tools": is_present},
            {"name": is_string, "description": is_string, "license": is_present},
            {"name": is_string, "description": is_string, "metadata": is_object},
        ),
        is_yaml=True,
    ),
    UnsupportedFormat(
        "a prompt of an agent or skill (such as .claude/agents/*.md or SKILL.md)",
        "add a list of `capabilities` to the front matter to register it as a"
        " configuration agent",
        ({"name": is_string, "description": is_string},),
        is_yaml=True,
    ),
    UnsupportedFormat(
        "the description of a service that lists names of capabilities",
        "configuration agents have no URL, so register the A2A card or the MCP server"
        " of the service",
        ({"name": is_string, "capabilities": is_string_list},),
    ),
)
# What to do with texts that are not an object, by what they contain.
TEXT_HINTS = (
    (
        re.compile(r"\A\s*\[\s*\{"),
        "if this is a list of definitions, register each of them separately",
    ),
    (
        re.compile(r"^(?:supported_interfaces|skills|capabilities)\s*\{", re.MULTILINE),
        "if this is an A2A card as protobuf text, register its JSON form",
    ),
)


def find_unsupported_format(
    document: Document, *, is_yaml: bool = False
) -> UnsupportedFormat | None:
    """Return the format of a document that no parser recognizes, if it is known.

    `is_yaml` is whether the document was written in YAML or TOML.
    """
    for candidate in UNSUPPORTED_FORMATS:
        if candidate.is_yaml and not is_yaml:
            continue
        if any(has_sign(document, sign) for sign in candidate.signs):
            return candidate
    return None


def has_sign(document: Document, sign: Mapping[str, ValueTest]) -> bool:
    return all(test(document.get(key)) for key, test in sign.items())


def explain_unreadable(problem: Problem, raw: bytes) -> Problem:
    """Return the problem, with what to do about a text that is not an object."""
    text = raw[:TEXT_HEAD_LENGTH].decode(errors="replace")
    for pattern, hint in TEXT_HINTS:
        if pattern.search(text):
            return Problem(problem.path, f"{problem.message}; {hint}")
    return problem

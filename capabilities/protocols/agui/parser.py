"""Parse AgentCapabilities documents of AG-UI agents."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from ...connections import Connection
from ...features import (
    CATEGORY_NAMES,
    CUSTOM_CATEGORY,
    IDENTITY_FIELDS,
    STORED_FEATURES,
    AgentFeature,
    KeyPath,
    Shape,
)
from ...health_requests import HealthRequest
from ...interfaces import EndpointPolicy
from ...parsers import Parser
from ...placeholders import find_url_template_error
from ...problems import Document, Problems, find_url_error, member_path
from ...records import (
    CAPABILITY_NAME_LIMIT,
    DISPLAY_NAME_LIMIT,
    AgentRecord,
    CapabilityRecord,
    ProviderRecord,
    is_web_url,
)
from .addresses import (
    add_trailing_slash,
    build_capabilities_url,
    derive_agent_url,
    get_origin,
    remove_trailing_slashes,
)
from .connection import build_connection
from .declarations import TOOLS_KEY_PATH, Declaration, read_declaration
from .detection import (
    ENDPOINT_MEMBER,
    has_category,
    is_empty_declaration,
    is_event_matrix,
    is_other_protocol,
)
from .health import NO_PAGE_EXPECTED, OBJECT_EXPECTED
from .records import KINDS, AGUISubagent, AGUITool

# With these statuses, an agent answers if it does not serve its capabilities.
NOT_SERVED_STATUSES = (404, 410, 501)
TOOLS_SUPPORTED_KEY_PATH = ("tools", "supported")
# The number of members read from an object whose members AG-UI does not define.
AGENT_DEFINED_MEMBER_LIMIT = 100


class AGUIParser(Parser):
    slug = "agui"
    label = "AG-UI"
    kinds = KINDS
    endpoint_policy = EndpointPolicy(
        "AG-UI agents declare their capabilities at /capabilities. If this agent does"
        " not, submit its declaration and its endpoint"
    )
    reported_paths = {f"$.{key}": f"$.identity.{key}" for key in IDENTITY_FIELDS}

    def recognizes(self, document: Document) -> bool:
        # An event matrix is recognized so that its error names what it is.
        is_agui = has_category(document) or is_event_matrix(document)
        return is_agui and not is_other_protocol(document)

    def definition_urls(self, url: str) -> list[str]:
        return [build_capabilities_url(derive_agent_url(url))]

    def health_requests(
        self, endpoint: str, definition_url: str
    ) -> list[HealthRequest]:
        """Return a request for the capabilities and one for the agent.

        The second is sent only if the agent does not serve its capabilities. It is the
        only request if another origin serves them.
        """
        url = definition_url or build_capabilities_url(endpoint)
        agent_request = HealthRequest(
            endpoint,
            only_after_statuses=NOT_SERVED_STATUSES,
            expectation=NO_PAGE_EXPECTED,
        )
        if get_origin(url) != get_origin(endpoint):
            # Another host may serve the declaration while the agent is down.
            return [agent_request]
        headers = {"Accept": "application/json"}
        capabilities_request = HealthRequest(
            url, headers=headers, expectation=OBJECT_EXPECTED
        )
        return [capabilities_request, agent_request]

    def build_connection(self, document: Document, record: AgentRecord) -> Connection:
        return build_connection(record)

    def parse(self, document: Document, problems: Problems) -> AgentRecord:
        if error_text := find_document_error(document):
            problems.error("$", error_text)
            return AgentRecord(protocol=self.slug, endpoint="")
        declaration = read_declaration(document, problems)
        identity = declaration.document.get("identity", {})
        endpoint = read_endpoint(document, identity, problems)
        identifier = build_identity(endpoint)
        capabilities = tuple(read_capabilities(declaration, problems))
        return AgentRecord(
            protocol=self.slug,
            endpoint=endpoint,
            identity=identifier,
            former_identities=get_former_identities(identifier),
            name=read_name(identity, capabilities, endpoint),
            description=identity.get("description", ""),
            version=identity.get("version", ""),
            provider=read_provider(identity),
            capabilities=(*capabilities, *read_features(declaration, problems)),
        )


def find_document_error(document: Document) -> str:
    """Return why this is not an AgentCapabilities document, or ""."""
    if is_event_matrix(document):
        return (
            "is the matrix of events and features that AWS Strands serves,"
            " not the AgentCapabilities of AG-UI"
        )
    if has_category(document) or is_empty_declaration(document):
        return ""
    names = ", ".join(CATEGORY_NAMES)
    return f"must have at least one of AG-UI's categories, as an object: {names}"


def read_endpoint(document: Document, identity: Document, problems: Problems) -> str:
    """Return the agent's URL, or an identifier with its name if there is no URL."""
    url = document.get(ENDPOINT_MEMBER)
    if isinstance(url, str):
        url = problems.resolve_url(url)
    if url is not None:
        error_text = find_url_error(url) if isinstance(url, str) else "must be a string"
        if error_text:
            problems.error(member_path("$", ENDPOINT_MEMBER), error_text)
        elif message := find_url_template_error(str(url)):
            problems.error(member_path("$", ENDPOINT_MEMBER), message)
        return "" if error_text else derive_agent_url(str(url))
    name = identity.get("name", "").strip()
    if not name:
        message = (
            "must have `url` or `identity.name`, unless an endpoint is submitted too"
        )
        problems.error("$", message)
    return f"agui:{name}" if name else ""


def build_identity(endpoint: str) -> str:
    """Return the endpoint without trailing slashes, which do not matter."""
    return remove_trailing_slashes(endpoint) if is_web_url(endpoint) else endpoint


def get_former_identities(identity: str) -> tuple[str, ...]:
    """Return the URL under which an agent was stored when slashes mattered."""
    return (add_trailing_slash(identity),) if is_web_url(identity) else ()


def read_name(
    identity: Document, capabilities: tuple[CapabilityRecord, ...], endpoint: str
) -> str:
    """Return the name of the agent, or else its framework.

    If it has neither, return "", so that the name of a capability is shown. If it has
    no capabilities either, return its URL.
    """
    for key in ("name", "type"):
        if name := identity.get(key, "").strip():
            return str(name)
    return "" if capabilities else endpoint[:DISPLAY_NAME_LIMIT]


def read_provider(identity: Document) -> ProviderRecord | None:
    organization = identity.get("provider", "").strip()
    return ProviderRecord(organization) if organization else None


def read_capabilities(
    declaration: Declaration, problems: Problems
) -> Iterator[CapabilityRecord]:
    """Yield the sub-agents, and the tools unless `tools.supported` is false."""
    if declaration.value(TOOLS_SUPPORTED_KEY_PATH) is not False:
        yield from read_tools(declaration)
    elif declaration.tools:
        path = declaration.original_path(TOOLS_KEY_PATH)
        problems.warning(path, "ignored, because tools.supported is false")
    for path, subagent in declaration.subagents:
        description = subagent.get("description", "")
        yield AGUISubagent(name=subagent["name"], description=description, path=path)


def read_tools(declaration: Declaration) -> Iterator[AGUITool]:
    for path, tool in declaration.tools:
        yield AGUITool(
            name=tool["name"],
            description=tool["description"],
            parameters=tool.get("parameters"),
            metadata=tool.get("metadata"),
            path=path,
        )


def read_features(
    declaration: Declaration, problems: Problems
) -> Iterator[AgentFeature]:
    """Yield every declared feature, and the members of `custom`."""
    for feature in STORED_FEATURES:
        value = declaration.value(feature.key_path)
        if feature.shape is Shape.OBJECT:
            yield from read_agent_defined_members(
                feature.key_path, value, declaration, problems
            )
        elif value is not None:
            path = declaration.original_path(feature.key_path)
            yield AgentFeature(name=feature.name, value=value, path=path)
    custom = declaration.value((CUSTOM_CATEGORY,))
    yield from read_agent_defined_members(
        (CUSTOM_CATEGORY,), custom, declaration, problems
    )


def read_agent_defined_members(
    key_path: KeyPath, value: Any, declaration: Declaration, problems: Problems
) -> Iterator[AgentFeature]:
    """Yield a feature for each value in an object, named by its full key path."""
    leaves = list(islice(iter_leaves(key_path, value), AGENT_DEFINED_MEMBER_LIMIT + 1))
    if len(leaves) > AGENT_DEFINED_MEMBER_LIMIT:
        message = (
            f"has more than {AGENT_DEFINED_MEMBER_LIMIT} values; the rest is not"
            " interpreted"
        )
        problems.warning(declaration.original_path(key_path), message)
    for leaf_key_path, leaf in leaves[:AGENT_DEFINED_MEMBER_LIMIT]:
        name, path = ".".join(leaf_key_path), declaration.original_path(leaf_key_path)
        if len(name) > CAPABILITY_NAME_LIMIT:
            problems.warning(path, "name is too long; stored, but not interpreted")
        else:
            yield AgentFeature(name=name, value=leaf, path=path)


def iter_leaves(key_path: KeyPath, value: Any) -> Iterator[tuple[KeyPath, Any]]:
    """Yield all values of nested objects with their key paths; lists are values."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from iter_leaves((*key_path, key), member)
    elif value is not None:
        yield key_path, value

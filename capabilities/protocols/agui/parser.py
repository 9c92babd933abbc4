"""AG-UI agents, read from the AgentCapabilities they declare."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from ...connections import Connection
from ...features import (
    CATALOGUED,
    CATEGORIES,
    CUSTOM,
    DECLARED,
    AgentFeature,
    Shape,
    Steps,
)
from ...health_requests import Ask
from ...interfaces import EndpointPolicy
from ...parsers import Parser
from ...problems import Document, Problems, member, url_fault
from ...records import (
    DISPLAY_NAME_LIMIT,
    NAME_LIMIT,
    AgentRecord,
    CapabilityRecord,
    ProviderRecord,
)
from .addresses import agent_url, capabilities_url, host
from .connection import connection
from .declarations import TOOLS, Declaration, read_declaration
from .detection import (
    ADDRESS,
    declares_nothing,
    has_category,
    is_event_matrix,
    is_foreign,
)
from .records import KINDS, AGUISubagent, AGUITool

# How an agent answers that does not tell what it can do.
UNDECLARED = (404, 410, 501)
SUPPORTED = ("tools", "supported")
# As much of what only this agent has a name for is searched and compared.
INSIDE_LIMIT = 100


class AGUIParser(Parser):
    slug = "agui"
    label = "AG-UI"
    expects = "AgentCapabilities need a category such as `identity` or `transport`"
    kinds = KINDS
    endpoint_policy = EndpointPolicy(
        "AG-UI agents tell what they support at /capabilities; where one does not,"
        " give its declaration and its endpoint"
    )
    places = {f"$.{key}": f"$.identity.{key}" for key in CATALOGUED}

    def recognises(self, document: Document) -> bool:
        """By any category; also what Strands serves instead, to say what it is."""
        known = has_category(document) or is_event_matrix(document)
        return known and not is_foreign(document)

    def published(self, url: str) -> list[str]:
        return [capabilities_url(agent_url(url))]

    def asks(self, endpoint: str, definition_url: str) -> list[Ask]:
        """For its capabilities, else the agent itself: few have both."""
        place = definition_url or capabilities_url(endpoint)
        itself = Ask(endpoint, after=UNDECLARED)
        if host(place) != host(endpoint):
            # Who keeps its declaration need not know how it is.
            return [itself]
        return [Ask(place, headers={"Accept": "application/json"}), itself]

    def connection(self, document: Document, record: AgentRecord) -> Connection:
        return connection(record)

    def parse(self, document: Document, problems: Problems) -> AgentRecord:
        if reason := refusal(document):
            problems.error("$", reason)
            return AgentRecord(protocol=self.slug, endpoint="")
        declaration = read_declaration(document, problems)
        identity = declaration.document.get("identity", {})
        endpoint = read_endpoint(document, identity, problems)
        offered = tuple(read_offered(declaration, problems))
        return AgentRecord(
            protocol=self.slug,
            endpoint=endpoint,
            name=read_name(identity, offered, endpoint),
            description=identity.get("description", ""),
            version=identity.get("version", ""),
            provider=read_provider(identity),
            capabilities=(*offered, *read_features(declaration, problems)),
        )


def refusal(document: Document) -> str:
    """Why the document declares nothing that AG-UI knows, or ''."""
    if is_event_matrix(document):
        return (
            "is the matrix of events and features that AWS Strands serves,"
            " not the AgentCapabilities of AG-UI"
        )
    if has_category(document) or declares_nothing(document):
        return ""
    return f"has none of AG-UI's categories as an object: {', '.join(CATEGORIES)}"


def read_endpoint(document: Document, identity: Document, problems: Problems) -> str:
    """Its address, else a name that stands for one."""
    url = document.get(ADDRESS)
    if url is not None:
        fault = url_fault(url) if isinstance(url, str) else "must be a string"
        if fault:
            problems.error(member("$", ADDRESS), fault)
        return "" if fault else agent_url(str(url))
    name = identity.get("name", "").strip()
    if not name:
        message = "needs an endpoint: AG-UI names none, nor has it an identity.name"
        problems.error("$", message)
    return f"agui:{name}" if name else ""


def read_name(
    identity: Document, offered: tuple[CapabilityRecord, ...], endpoint: str
) -> str:
    """Its name or framework; else, without an offer to be known by, its address."""
    for key in ("name", "type"):
        if name := identity.get(key, "").strip():
            return str(name)
    return "" if offered else endpoint[:DISPLAY_NAME_LIMIT]


def read_provider(identity: Document) -> ProviderRecord | None:
    organization = identity.get("provider", "").strip()
    return ProviderRecord(organization) if organization else None


def read_offered(
    declaration: Declaration, problems: Problems
) -> Iterator[CapabilityRecord]:
    """Tools, unless they are switched off, and sub-agents."""
    if declaration.value(SUPPORTED) is not False:
        yield from read_tools(declaration)
    elif declaration.tools:
        message = "tools.supported is false: these are not offered"
        problems.warning(declaration.place(TOOLS), message)
    for path, stated in declaration.subagents:
        about = stated.get("description", "")
        yield AGUISubagent(name=stated["name"], description=about, path=path)


def read_tools(declaration: Declaration) -> Iterator[AGUITool]:
    for path, stated in declaration.tools:
        yield AGUITool(
            name=stated["name"],
            description=stated["description"],
            parameters=stated.get("parameters"),
            metadata=stated.get("metadata"),
            path=path,
        )


def read_features(
    declaration: Declaration, problems: Problems
) -> Iterator[AgentFeature]:
    """What is declared, flag by flag; what is not declared is unknown."""
    for feature in DECLARED:
        value = declaration.value(feature.steps)
        if feature.shape is Shape.OBJECT:
            yield from read_inside(feature.steps, value, declaration, problems)
        elif value is not None:
            path = declaration.place(feature.steps)
            yield AgentFeature(name=feature.name, value=value, path=path)
    custom = declaration.value((CUSTOM,))
    yield from read_inside((CUSTOM,), custom, declaration, problems)


def read_inside(
    at: Steps, value: Any, declaration: Declaration, problems: Problems
) -> Iterator[AgentFeature]:
    """What an object of the agent's own says, each member by its whole name."""
    leaves = list(islice(leaves_of(at, value), INSIDE_LIMIT + 1))
    if len(leaves) > INSIDE_LIMIT:
        message = f"says more than {INSIDE_LIMIT} things; the others are only kept"
        problems.warning(declaration.place(at), message)
    for steps, leaf in leaves[:INSIDE_LIMIT]:
        name, path = ".".join(steps), declaration.place(steps)
        if len(name) > NAME_LIMIT:
            problems.warning(path, "has too long a name; kept, not interpreted")
        else:
            yield AgentFeature(name=name, value=leaf, path=path)


def leaves_of(steps: Steps, value: Any) -> Iterator[tuple[Steps, Any]]:
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from leaves_of((*steps, key), inside)
    elif value is not None:
        yield steps, value

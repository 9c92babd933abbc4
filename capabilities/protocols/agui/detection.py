"""Tell AgentCapabilities documents apart from those of other protocols."""

from ...features import CATEGORY_NAMES, TRANSPORT
from ...problems import Document
from ...spellings import CATEGORY_SPELLINGS

# Members of A2A, MCP, AGH or configuration documents that AG-UI does not have.
NON_AGUI_MEMBERS = {
    "capabilities",
    "peer_id",
    "protocolVersion",
    "serverInfo",
    "serverUrl",
    "skills",
    "supportedInterfaces",
    "version_detail",
}
# Lists of MCP documents. In AG-UI, `tools` is an object and the others do not exist.
NON_AGUI_LISTS = (
    "packages",
    "prompts",
    "remotes",
    "resourceTemplates",
    "resources",
    "tools",
)
TRANSPORT_FLAGS = {feature.key_path[1] for feature in TRANSPORT.features}
# AG-UI has no member for the agent's URL, so AgentLens adds this one to definitions.
ENDPOINT_MEMBER = "url"


def has_category(document: Document) -> bool:
    """Return whether a category is present as an object, in any spelling."""
    keys = (*CATEGORY_NAMES, *CATEGORY_SPELLINGS)
    return any(isinstance(document.get(key), dict) for key in keys)


def is_empty_declaration(document: Document) -> bool:
    """Return whether the document has no members, apart from the agent's URL."""
    return all(
        value is None for key, value in document.items() if key != ENDPOINT_MEMBER
    )


def is_other_protocol(document: Document) -> bool:
    """Return whether the document looks like one of another protocol."""
    return (
        bool(NON_AGUI_MEMBERS & document.keys())
        # AG-UI has the name of an agent only in `identity`.
        or isinstance(document.get("name"), str)
        or any(isinstance(document.get(key), list) for key in NON_AGUI_LISTS)
        or isinstance(document.get("transport"), str)
        or has_other_protocol_transport(document)
        or "modelcontextprotocol.io" in str(document.get("$schema"))
    )


def has_other_protocol_transport(document: Document) -> bool:
    """Return whether `transport` is that of MCP: it has a `type` and no AG-UI flag."""
    transport = document.get("transport")
    if not isinstance(transport, dict):
        return False
    other_members = {key: document[key] for key in document if key != "transport"}
    looks_like_agui = TRANSPORT_FLAGS & transport.keys() or has_category(other_members)
    return isinstance(transport.get("type"), str) and not looks_like_agui


def is_event_matrix(document: Document) -> bool:
    """Return whether this is what AWS Strands serves instead of its capabilities."""
    parts = (document.get("events"), document.get("features"))
    is_matrix = all(isinstance(part, dict) for part in parts)
    return is_matrix and not has_category(document)

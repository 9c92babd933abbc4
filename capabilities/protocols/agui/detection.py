"""By what a declaration of AG-UI's is told from other documents."""

from ...features import CATEGORIES, TRANSPORT
from ...problems import Document
from ...spellings import ROOT_SPELLINGS

# Members that A2A, MCP, AGH or configuration agents have, and AG-UI has not.
FOREIGN = {
    "capabilities",
    "peer_id",
    "protocolVersion",
    "serverInfo",
    "serverUrl",
    "skills",
    "supportedInterfaces",
    "version_detail",
}
# What MCP lists; of these AG-UI knows `tools`, as an object.
FOREIGN_LISTS = (
    "packages",
    "prompts",
    "remotes",
    "resourceTemplates",
    "resources",
    "tools",
)
FLAGS = {feature.steps[1] for feature in TRANSPORT.features}
# Where the agent is, added to what it declares of itself.
ADDRESS = "url"


def has_category(document: Document) -> bool:
    """Whether a category is there, in any spelling, as an object."""
    keys = (*CATEGORIES, *ROOT_SPELLINGS)
    return any(isinstance(document.get(key), dict) for key in keys)


def declares_nothing(document: Document) -> bool:
    """Whether it is as good as `{}`, which is how an agent says nothing of itself."""
    return all(value is None for key, value in document.items() if key != ADDRESS)


def is_foreign(document: Document) -> bool:
    return (
        bool(FOREIGN & document.keys())
        # AG-UI has an agent's name inside its identity, and nowhere else.
        or isinstance(document.get("name"), str)
        or any(isinstance(document.get(key), list) for key in FOREIGN_LISTS)
        or isinstance(document.get("transport"), str)
        or has_foreign_transport(document)
        or "modelcontextprotocol.io" in str(document.get("$schema"))
    )


def has_foreign_transport(document: Document) -> bool:
    """Whether `transport` names a type, as MCP has it, and nothing speaks for AG-UI."""
    stated = document.get("transport")
    if not isinstance(stated, dict):
        return False
    others = {key: document[key] for key in document if key != "transport"}
    speaks = FLAGS & stated.keys() or has_category(others)
    return isinstance(stated.get("type"), str) and not speaks


def is_event_matrix(document: Document) -> bool:
    """What AWS Strands serves where others serve their capabilities."""
    parts = (document.get("events"), document.get("features"))
    is_matrix = all(isinstance(part, dict) for part in parts)
    return is_matrix and not has_category(document)

"""Server cards, completed with what the running server answered."""

from ...problems import Document
from .registry_response import unwrap_server
from .stub import is_stub

LIST_MEMBERS = ("tools", "resources", "resourceTemplates", "prompts")
# Members for which the answer of the running server takes precedence.
INTROSPECTED_MEMBERS = (
    "serverInfo",
    "protocolVersion",
    "capabilities",
    "instructions",
    *LIST_MEMBERS,
)
# Marks a completed card, in `_meta`.
COMPLETED_KEY = "agentlens/introspected"


def complete_card(card: Document, answer: Document) -> Document:
    """Return the card with the introspected members taken from the answer.

    A stub has nothing to keep.
    """
    if is_stub(card):
        return answer
    server, path = unwrap_server(card)
    declared = {key: server[key] for key in server if key not in INTROSPECTED_MEMBERS}
    if declared.keys() <= {"url"}:
        return answer
    completed = {
        **declared,
        **{key: answer[key] for key in INTROSPECTED_MEMBERS if key in answer},
        "_meta": {**get_meta(declared), COMPLETED_KEY: True},
    }
    return completed if path == "$" else {**card, "server": completed}


def is_completed(document: Document) -> bool:
    """Return whether `complete_card` made this document."""
    return COMPLETED_KEY in get_meta(unwrap_server(document).members)


def preserve_introspected(card: Document, stored: Document) -> Document:
    """Return the card with the stored answers, unless the card has lists itself."""
    has_lists = any(key in unwrap_server(card).members for key in LIST_MEMBERS)
    if has_lists or not is_completed(stored):
        return card
    return complete_card(card, unwrap_server(stored).members)


def get_meta(server: Document) -> Document:
    meta = server.get("_meta")
    return meta if isinstance(meta, dict) else {}

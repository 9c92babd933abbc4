"""A published server card, completed with what the running server said of itself."""

from ...problems import Document
from .envelope import unwrapped

LISTS = ("tools", "resources", "resourceTemplates", "prompts")
# What a running server knows better than its card.
INTROSPECTED = ("serverInfo", "protocolVersion", "capabilities", "instructions", *LISTS)
# Marks a completed card, in `_meta`.
MARK = "agentlens/introspected"


def complete_card(card: Document, answer: Document) -> Document:
    """Replace what the card says by what the server answered, where it did."""
    server, path = unwrapped(card)
    kept = {key: server[key] for key in server if key not in INTROSPECTED}
    if kept.keys() <= {"url"}:
        return answer
    meta = {**meta_of(kept), MARK: True}
    answered = {key: answer[key] for key in INTROSPECTED if key in answer}
    whole = {**kept, **answered, "_meta": meta}
    return whole if path == "$" else {**card, "server": whole}


def is_completed(document: Document) -> bool:
    """Whether `complete_card` made this document."""
    return MARK in meta_of(unwrapped(document)[0])


def preserve_introspected(card: Document, stored: Document) -> Document:
    """Keep the stored answers, unless the new card lists something itself."""
    lists = any(key in unwrapped(card)[0] for key in LISTS)
    if lists or not is_completed(stored):
        return card
    return complete_card(card, unwrapped(stored)[0])


def meta_of(server: Document) -> Document:
    meta = server.get("_meta")
    return meta if isinstance(meta, dict) else {}

"""How a capability that takes traffic may be called."""

import re

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
NAME_LIMIT = 100
RESERVED_PREFIX = "cap-reg-"


def capability_name_fault(name: str) -> str:
    """What is wrong with the name, in words; nothing when it will do."""
    if not 1 <= len(name) <= NAME_LIMIT:
        return f"must have 1 to {NAME_LIMIT} characters"
    if not NAME.fullmatch(name):
        return "must be lowercase words joined by hyphens, such as data-analysis"
    if name == "health" or name.startswith(RESERVED_PREFIX):
        return "is reserved"
    return ""

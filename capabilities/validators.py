"""Validation of the names under which capabilities are registered for routing."""

import re

REGISTRATION_NAME_PATTERN = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
REGISTRATION_NAME_LIMIT = 100
# IDs of registrations start with this prefix, so names of capabilities must not.
REGISTRATION_ID_PREFIX = "cap-reg-"


def find_registration_name_error(name: str) -> str:
    """Return what is wrong with the name, or '' if it is valid."""
    if not 1 <= len(name) <= REGISTRATION_NAME_LIMIT:
        return f"must have 1 to {REGISTRATION_NAME_LIMIT} characters"
    if not REGISTRATION_NAME_PATTERN.fullmatch(name):
        return "must be lowercase words joined by hyphens, such as data-analysis"
    if name == "health" or name.startswith(REGISTRATION_ID_PREFIX):
        return "is reserved; choose another name"
    return ""

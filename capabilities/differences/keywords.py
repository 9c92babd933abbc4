"""What changes of single keywords of a JSON Schema mean."""

from typing import Any

TEXT_KEYWORDS = frozenset(
    {"title", "description", "default", "example", "examples", "deprecated"}
)
# Lower limits with the value that means no limit, and upper limits.
LOWER_LIMITS = {
    "minimum": None,
    "exclusiveMinimum": None,
    "minLength": 0,
    "minItems": 0,
    "minProperties": 0,
}
UPPER_LIMITS = (
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
)


def describe_keyword(keyword: str, before: Any, after: Any, is_tighter: bool) -> str:
    if is_tighter:
        return f"limit tightened: {keyword}"
    is_limit = keyword in LOWER_LIMITS or keyword in UPPER_LIMITS
    if keyword in TEXT_KEYWORDS or is_limit:
        return f"{keyword} changed"
    return f"{keyword[:100]} changed, compare by hand"


def is_tightened(keyword: str, before: Any, after: Any) -> bool:
    """Return whether a keyword allows fewer values than before."""
    if keyword == "pattern":
        return before is None and isinstance(after, str)
    if keyword == "uniqueItems":
        return after is True
    if not is_number(after):
        return False
    if keyword in LOWER_LIMITS:
        lowest = before if is_number(before) else LOWER_LIMITS[keyword]
        return lowest is None or bool(after > lowest)
    if keyword in UPPER_LIMITS:
        return not is_number(before) or bool(after < before)
    return False


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)

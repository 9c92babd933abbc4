"""Limits for the numbers in definitions: finite floats and 64-bit integers."""

import math

from .problems import UnreadableDocument

INT64_MAX = 2**63 - 1


def parse_finite_float(text: str) -> float:
    """Parse a number; raise UnreadableDocument if it is not finite."""
    value = float(text)
    if not math.isfinite(value):
        raise UnreadableDocument(f"contains a number out of range: {text[:40]}")
    return value


def check_int64(value: int) -> int:
    """Return the integer; raise UnreadableDocument if it does not fit into 64 bits.

    The message does not repeat the integer: Python cannot print thousands of digits.
    """
    if not -INT64_MAX - 1 <= value <= INT64_MAX:
        message = "contains an integer outside the 64-bit range; write it as a string"
        raise UnreadableDocument(message)
    return value


def build_long_integer_error() -> UnreadableDocument:
    """Return the error for an integer with more digits than Python parses."""
    message = "contains an integer with too many digits; write it as a string"
    return UnreadableDocument(message)

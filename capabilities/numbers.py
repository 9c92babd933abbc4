"""Limits for numbers, so that every JSON reader and database can store them."""

import math

from .problems import UnreadableDocument

INT64_MAX = 2**63 - 1


def parse_finite_float(text: str) -> float:
    """Parse a number; raise UnreadableDocument if a float cannot represent it."""
    value = float(text)
    if not math.isfinite(value):
        raise UnreadableDocument(f"contains a number out of range: {text[:40]}")
    return value


def check_int64(value: int) -> int:
    """Return the integer; raise UnreadableDocument if it has more than 64 bits.

    Python refuses to print integers of thousands of digits, so the message omits it.
    """
    if not -INT64_MAX - 1 <= value <= INT64_MAX:
        raise UnreadableDocument("contains an integer of more than 64 bits")
    return value

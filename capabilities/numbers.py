"""Numbers that JSON can say, and that every reader of it can read."""

import math

from .problems import Unreadable

LARGEST = 2**63 - 1


def finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise Unreadable(f"holds a number out of range: {text[:40]}")
    return value


def bounded(value: int) -> int:
    """An integer of at most 64 bits; a longer one may not even be printable."""
    if not -LARGEST - 1 <= value <= LARGEST:
        raise Unreadable("holds an integer of more than 64 bits")
    return value

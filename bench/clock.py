"""Taking times, in turn: whatever else the machine does, all meet the same weather."""

import time
from collections.abc import Callable

from .queries import Ask

# The family and the milliseconds of each call.
Times = list[tuple[str, float]]


def clocked(function: Callable, ask: Ask) -> tuple[str, float]:
    start = time.perf_counter()
    function(ask)
    return ask.family, (time.perf_counter() - start) * 1000


def in_turn(
    doors: dict[str, Callable], asked: dict[str, list[Ask]], seconds: float
) -> dict[str, Times]:
    """The next question of each door, again and again until they or the time end."""
    times: dict[str, Times] = {name: [] for name in doors}
    deadline = time.perf_counter() + seconds
    for asks in zip(*(asked[name] for name in doors), strict=True):
        for name, ask in zip(doors, asks, strict=True):
            times[name].append(clocked(doors[name], ask))
        if time.perf_counter() > deadline:
            break
    return times

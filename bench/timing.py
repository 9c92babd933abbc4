"""Measure calls, interleaved so that other load affects all targets equally."""

import time
from collections.abc import Callable

from .queries import BenchQuery

# The query family and the milliseconds of each call.
Times = list[tuple[str, float]]


def measure_call(
    function: Callable[[BenchQuery], object], query: BenchQuery
) -> tuple[str, float]:
    start = time.perf_counter()
    function(query)
    return query.family, (time.perf_counter() - start) * 1000


def measure_interleaved(
    targets: dict[str, Callable[[BenchQuery], object]],
    queries: dict[str, list[BenchQuery]],
    seconds: float,
) -> dict[str, Times]:
    """Call the targets in turn, each with its next query, and return all times.

    Stops when there are no more queries, or after the given seconds.
    """
    times: dict[str, Times] = {name: [] for name in targets}
    deadline = time.perf_counter() + seconds
    for round_queries in zip(*(queries[name] for name in targets), strict=True):
        for name, query in zip(targets, round_queries, strict=True):
            times[name].append(measure_call(targets[name], query))
        if time.perf_counter() > deadline:
            break
    return times

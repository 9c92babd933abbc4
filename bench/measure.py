"""Measure the search in process: build a catalog, check all results, take times.

    python -m bench.measure 100000

Reads the database from the environment, like AgentLens itself; prints JSON.
"""

import sys
import time
from collections.abc import Callable

import django
import orjson

django.setup()

from django.contrib.auth import get_user_model  # noqa: E402 - Django first
from django.contrib.auth.models import Group  # noqa: E402
from knox.models import AuthToken  # noqa: E402

from agentlens.start import prepare_database  # noqa: E402
from catalog import search  # noqa: E402
from catalog.models import SearchRow  # noqa: E402

from . import data, unindexed_search  # noqa: E402
from .queries import LIMIT, BenchQuery, build_queries  # noqa: E402
from .timing import Times, measure_call  # noqa: E402

# The naive query is slow, so there are fewer of them, and a time limit per family.
NAIVE_CALLS, INDEXED_CALLS = 5, 8
FAMILY_SECONDS = 6


def run_search(query: BenchQuery) -> dict:
    search_query = search.SearchQuery(query.q, query.kind, query.sort)
    page = search.search_capabilities(search_query, LIMIT, query.offset)
    return {"total": page.total, "items": page.items}


def group_by_family(queries: list[BenchQuery]) -> list[list[BenchQuery]]:
    families: dict[str, list[BenchQuery]] = {}
    for query in queries:
        families.setdefault(query.family, []).append(query)
    return list(families.values())


def measure_search(queries: list[BenchQuery]) -> dict[str, Times]:
    """Alternate between one naive query and several indexed searches."""
    times: dict[str, Times] = {"naive": [], "indexed": []}
    for family in group_by_family(queries):
        search_queries = iter(family * NAIVE_CALLS * INDEXED_CALLS)
        deadline = time.perf_counter() + FAMILY_SECONDS
        for query in (family * NAIVE_CALLS)[:NAIVE_CALLS]:
            times["naive"].append(measure_call(unindexed_search.run_naive_query, query))
            times["indexed"] += [
                measure_call(run_search, next(search_queries))
                for _ in range(INDEXED_CALLS)
            ]
            if time.perf_counter() > deadline:
                break
    return times


def create_token(role: str) -> str:
    """Return a token of a new user whose permissions come from a role."""
    user = get_user_model().objects.create_user(role.lower())
    user.groups.add(Group.objects.get(name=role))
    return AuthToken.objects.create(user)[1]


def log_duration(label: str, function: Callable, *arguments):
    """Call the function and print how long it took."""
    start = time.perf_counter()
    result = function(*arguments)
    print(f"  {label}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return result


def main(size: int) -> dict:
    prepare_database()
    log_duration("build and index", data.build, size, data.CatalogBuilder())
    queries = build_queries(size)
    scan = log_duration("read all rows", unindexed_search.Scan)
    expected = [scan.search(query) for query in queries]
    del scan
    results = log_duration("run all queries", list, map(run_search, queries))
    times = log_duration("measure", measure_search, queries)
    return {
        **times,
        "expected": expected,
        "differences": [
            f"in process: {query}"
            for query, result, correct in zip(queries, results, expected, strict=True)
            if result != correct
        ],
        "rows": SearchRow.objects.count(),
        "token": create_token("Viewer"),
    }


if __name__ == "__main__":
    sys.stdout.buffer.write(orjson.dumps(main(int(sys.argv[1]))))

"""One size on one database: build it, check every answer, take the times.

    python -m bench.measure 100000

Reads its database from the environment, as the product does; prints JSON.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack

import django
import orjson

django.setup()

from django.contrib.auth import get_user_model  # noqa: E402 - Django first
from django.contrib.auth.models import Group  # noqa: E402
from django.db import connection  # noqa: E402
from knox.models import AuthToken  # noqa: E402

from agentlens.start import prepare  # noqa: E402
from catalog import search  # noqa: E402
from catalog.models import SearchRow  # noqa: E402

from . import data, plain  # noqa: E402
from .queries import LIMIT, Ask, asks, mix  # noqa: E402
from .served import BARE, PRODUCT, Client, path, serving  # noqa: E402

ROUNDS = 3
REQUESTS = 300
# Bounds for one family in process, and for one round over HTTP.
SECONDS, ROUND_SECONDS = 2, 20
BARE_SIZE = 10_000

Times = list[tuple[str, float]]
Differences = list[str]


def timed(function: Callable, asked: Iterable[Ask], seconds: float) -> Times:
    """Milliseconds of each call, by family, until the time is up."""
    times: Times = []
    deadline = time.perf_counter() + seconds
    for ask in asked:
        start = time.perf_counter()
        function(ask)
        end = time.perf_counter()
        times.append((ask.family, (end - start) * 1000))
        if end > deadline:
            break
    return times


def by_family(asked: list[Ask]) -> list[list[Ask]]:
    families: dict[str, list[Ask]] = {}
    for ask in asked:
        families.setdefault(ask.family, []).append(ask)
    return list(families.values())


def find(ask: Ask) -> dict:
    question = search.Question(ask.q, ask.kind, ask.sort)
    page = search.find(question, LIMIT, ask.offset)
    return {"total": page.total, "items": page.items}


def differences(door: str, answer: Callable, expected: dict[Ask, dict]) -> Differences:
    return [
        f"{door}: {ask.family}: {ask.parameters}"
        for ask, right in expected.items()
        if answer(ask) != right
    ]


def in_process(asked: list[Ask]) -> dict[str, Times]:
    """Ours many times, the plain query a few: it takes its time."""
    ours: Times = []
    naive: Times = []
    for family in by_family(asked):
        ours += timed(find, (family * 40)[:40], SECONDS)
        naive += timed(plain.naive, (family * 5)[:5], SECONDS)
    return {"ours": ours, "naive": naive}


def over_http(size: int, expected: dict[Ask, dict], token: str) -> dict:
    """The mix in rounds, each server in turn, so that all meet the same weather."""
    requests = mix(size, REQUESTS)
    with ExitStack() as servers:
        product = servers.enter_context(serving(PRODUCT, token))
        doors = {"http": lambda ask: product.get(path(ask))}
        wrong = differences("HTTP", lambda a: orjson.loads(doors["http"](a)), expected)
        if size == BARE_SIZE:
            given = {"BENCH_SIZE": str(size), "BENCH_TOKEN": token}
            bare = servers.enter_context(serving(BARE, token, **given))
            doors |= bare_doors(bare, list(expected))
        rounds: dict[str, list[Times]] = {name: [] for name in doors}
        for _ in range(ROUNDS):
            for name, door in doors.items():
                rounds[name].append(timed(door, requests, ROUND_SECONDS))
    return {"rounds": rounds, "differences": wrong}


def bare_doors(client: Client, asked: list[Ask]) -> dict[str, Callable]:
    """The bare server knows the questions by their numbers."""
    numbers = {ask: n for n, ask in enumerate(asked)}

    def door(plan: str) -> Callable:
        return lambda ask: client.get(f"/?plan={plan}&n={numbers[ask]}")

    return {plan: door(plan) for plan in ("whole", "searching")}


def viewer_token() -> str:
    """Of one who may read and no more, whose rights must be looked up."""
    viewer = get_user_model().objects.create_user("viewer")
    viewer.groups.add(Group.objects.get(name="Viewer"))
    return AuthToken.objects.create(viewer)[1]


def told(text: str, start: float) -> None:
    print(f"  {text}: {time.perf_counter() - start:.0f} s", file=sys.stderr)


def main(size: int) -> dict:
    start = time.perf_counter()
    prepare()
    data.build(size)
    told(f"{connection.vendor}, {size:,} capabilities built", start)
    start = time.perf_counter()
    scan = plain.Scan()
    expected = {ask: scan.answer(ask) for ask in asks(size)}
    wrong = differences("in process", find, expected)
    told("every answer compared with a plain scan", start)
    start = time.perf_counter()
    times = in_process(list(expected))
    told("in process", start)
    start = time.perf_counter()
    http = over_http(size, expected, viewer_token())
    told("over HTTP", start)
    return {
        **times,
        "rounds": http["rounds"],
        "differences": wrong + http["differences"],
        "answers": 2 * len(expected),
        "rows": SearchRow.objects.count(),
        "totals": [[ask.family, right["total"]] for ask, right in expected.items()],
    }


if __name__ == "__main__":
    os.write(sys.stdout.fileno(), orjson.dumps(main(int(sys.argv[1]))))

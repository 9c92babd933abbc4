"""One size on one database, in process: build it, check every answer, take the times.

    python -m bench.measure 100000

Reads its database from the environment, as the product does; prints JSON.
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

from . import data, plain  # noqa: E402
from .clock import Times, clocked  # noqa: E402
from .queries import LIMIT, Ask, asks  # noqa: E402

# The plain query takes its time: fewer of them, and no more than so many seconds.
NAIVE, OURS = 5, 8
SECONDS = 6


def find(ask: Ask) -> dict:
    question = search.SearchQuery(ask.q, ask.kind, ask.sort)
    page = search.search_capabilities(question, LIMIT, ask.offset)
    return {"total": page.total, "items": page.items}


def by_family(asked: list[Ask]) -> list[list[Ask]]:
    families: dict[str, list[Ask]] = {}
    for ask in asked:
        families.setdefault(ask.family, []).append(ask)
    return list(families.values())


def compared(asked: list[Ask]) -> dict[str, Times]:
    """Once the plain query, some times ours, and again."""
    times: dict[str, Times] = {"naive": [], "ours": []}
    for family in by_family(asked):
        questions = iter(family * NAIVE * OURS)
        deadline = time.perf_counter() + SECONDS
        for ask in (family * NAIVE)[:NAIVE]:
            times["naive"].append(clocked(plain.naive, ask))
            times["ours"] += [clocked(find, next(questions)) for _ in range(OURS)]
            if time.perf_counter() > deadline:
                break
    return times


def token_of(role: str) -> str:
    """Of one who may so much and no more, whose rights must be looked up."""
    user = get_user_model().objects.create_user(role.lower())
    user.groups.add(Group.objects.get(name=role))
    return AuthToken.objects.create(user)[1]


def told(text: str, function: Callable, *arguments):
    """Do it, and tell how long it took."""
    start = time.perf_counter()
    done = function(*arguments)
    print(f"  {text}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return done


def main(size: int) -> dict:
    prepare_database()
    told("built and indexed", data.build, size, data.Maker())
    asked = asks(size)
    scan = told("read without the index", plain.Scan)
    expected = [scan.answer(ask) for ask in asked]
    del scan
    answers = told("every question answered", list, map(find, asked))
    times = told("in process", compared, asked)
    return {
        **times,
        "expected": expected,
        "differing": [
            f"in process: {ask}"
            for ask, answer, right in zip(asked, answers, expected, strict=True)
            if answer != right
        ],
        "rows": SearchRow.objects.count(),
        "token": token_of("Viewer"),
    }


if __name__ == "__main__":
    sys.stdout.buffer.write(orjson.dumps(main(int(sys.argv[1]))))

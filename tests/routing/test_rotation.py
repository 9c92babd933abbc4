"""One number after the other, whoever asks: threads and processes alike."""

import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest
import redis
from django.conf import settings
from django.db import connection

from routing import rotation
from routing.decisions import NoProvidersError, RoutingRequest, decide
from routing.models import RoutingCounter
from tests.catalog.health.test_scheduler import database_url
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db(transaction=True)

PROCESSES = 4
# Takes so many turns, picks for each, and tells both.
SCRIPT = """
import json, sys
import django
django.setup()
from routing import rotation
from routing.strategies import STRATEGIES, RoutingCandidate, pick_by_turn

weighed = [RoutingCandidate(name, name, weight) for name, weight in json.loads(sys.argv[2])]
order = STRATEGIES["load_balance"](weighed, 0)
turns = [rotation.next_turn("data-analysis") for _ in range(int(sys.argv[1]))]
picks = [pick_by_turn(order, turn).candidate.id for turn in turns]
print(json.dumps({"turns": turns, "picks": picks}))
"""


def take_in_processes(count, weights=(("a", 1),)):
    """What so many processes took, each its part, all at the same time."""
    command = [sys.executable, "-c", SCRIPT, str(count), json.dumps(weights)]
    environment = os.environ | {
        "DATABASE_URL": database_url(),
        "DJANGO_SETTINGS_MODULE": "agentlens.settings",
    }
    running = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
        for _ in range(PROCESSES)
    ]
    told = [json.loads(process.communicate(timeout=100)[0]) for process in running]
    return [
        list(chain.from_iterable(one[word] for one in told))
        for word in ("turns", "picks")
    ]


def closing(take):
    """Threads leave their connections open, which keeps the database from going."""
    try:
        return take()
    finally:
        connection.close()


def test_numbers_go_up_by_one_for_each_capability_and_version():
    taken = [rotation.next_turn("data-analysis") for _ in range(3)]

    assert taken == [1, 2, 3]
    assert rotation.next_turn("data-analysis", "2.0.0") == 1
    assert rotation.next_turn("web-search") == 1
    assert rotation.next_turn("data-analysis") == 4


def test_a_peek_tells_the_next_number_and_leaves_it():
    assert (rotation.peek_turn("web-search"), rotation.peek_turn("web-search")) == (
        1,
        1,
    )
    assert rotation.next_turn("web-search") == 1
    assert (rotation.peek_turn("web-search"), rotation.next_turn("web-search")) == (
        2,
        2,
    )


def test_no_number_is_given_twice_to_threads():
    def some():
        return [rotation.next_turn("data-analysis") for _ in range(25)]

    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(closing, [some] * 8))

    assert sorted(chain.from_iterable(taken)) == list(range(1, 201))
    assert all(numbers == sorted(numbers) for numbers in taken)


def test_no_number_is_given_twice_to_processes_and_their_shares_are_the_weights():
    weights = [("a", 100), ("b", 50), ("c", 37), ("d", 13)]
    turns, picks = take_in_processes(10_000 // PROCESSES, weights)

    assert sorted(turns) == list(range(1, 10_001))
    shares = {name: count / 10_000 for name, count in Counter(picks).items()}
    assert shares == pytest.approx(
        {"a": 0.5, "b": 0.25, "c": 0.185, "d": 0.065}, abs=0.01
    )


def test_the_count_is_kept_where_all_processes_look():
    rotation.next_turn("data-analysis")

    assert RoutingCounter.objects.exists() == (not settings.REDIS_URL)
    if settings.REDIS_URL:
        with redis.Redis.from_url(settings.REDIS_URL) as server:
            assert server.get("agentlens:turn:data-analysis:") == b"1"


def test_where_redis_does_not_answer_the_database_counts(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"

    assert [rotation.next_turn("data-analysis") for _ in range(3)] == [1, 2, 3]
    assert rotation.peek_turn("data-analysis") == 4


def test_only_a_balanced_choice_moves_it_on():
    RegistrationFactory(capability="web-search")
    for strategy in ("priority", "least_loaded", "fastest_response"):
        decide(RoutingRequest("web-search", strategy=strategy))
    decide(RoutingRequest("web-search", strategy="load_balance", peek=True))
    assert rotation.peek_turn("web-search") == 1

    decide(RoutingRequest("web-search", strategy="load_balance"))
    assert rotation.peek_turn("web-search") == 2


@pytest.mark.parametrize(
    "version", ["9.9.9", "x" * 1000, "nul\0"], ids=["unknown", "long", "nul"]
)
def test_a_version_nobody_offers_is_not_counted(version):
    """Else readers could make as many as they like, and too long ones break it."""
    RegistrationFactory(capability="web-search")
    told = decide(
        RoutingRequest("web-search", version=version, strategy="load_balance")
    )

    assert told.order == []
    assert not RoutingCounter.objects.exists()
    assert rotation.peek_turn("web-search", "9.9.9") == 1


def test_nor_has_a_capability_nobody_offers():
    with pytest.raises(NoProvidersError):
        decide(RoutingRequest("nonsense", strategy="load_balance"))
    assert rotation.peek_turn("nonsense") == 1

"""The rotation counter, across threads and processes."""

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
from routing.decisions import NoProvidersError, RoutingRequest, make_routing_decision
from routing.models import RoutingCounter
from tests.catalog.health.test_scheduler import get_database_url
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db(transaction=True)

PROCESSES = 4
# Takes a number of turns, picks a candidate for each, and prints both.
TAKE_TURNS_SCRIPT = """
import json, sys
import django
django.setup()
from routing import rotation
from routing.strategies import STRATEGIES, RoutingCandidate, pick_by_turn

weights = json.loads(sys.argv[2])
candidates = [RoutingCandidate(name, name, weight) for name, weight in weights]
order = STRATEGIES["load_balance"](candidates, 0)
turns = [rotation.next_turn("data-analysis") for _ in range(int(sys.argv[1]))]
picks = [pick_by_turn(order, turn).candidate.id for turn in turns]
print(json.dumps({"turns": turns, "picks": picks}))
"""


def take_turns_in_processes(count, weights=(("a", 1),)):
    """Take `count` turns in each of several processes; return all turns and picks."""
    command = [sys.executable, "-c", TAKE_TURNS_SCRIPT, str(count), json.dumps(weights)]
    environment = os.environ | {
        "DATABASE_URL": get_database_url(),
        "DJANGO_SETTINGS_MODULE": "agentlens.settings",
    }
    processes = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
        for _ in range(PROCESSES)
    ]
    results = [json.loads(process.communicate(timeout=100)[0]) for process in processes]
    return [
        list(chain.from_iterable(result[key] for result in results))
        for key in ("turns", "picks")
    ]


def run_and_close_connection(function):
    """Call the function and close the connection of this thread.

    An open connection would keep the test database from being deleted.
    """
    try:
        return function()
    finally:
        connection.close()


def test_next_turn_counts_per_capability_and_version():
    turns = [rotation.next_turn("data-analysis") for _ in range(3)]

    assert turns == [1, 2, 3]
    assert rotation.next_turn("data-analysis", "2.0.0") == 1
    assert rotation.next_turn("web-search") == 1
    assert rotation.next_turn("data-analysis") == 4


def test_peek_turn_does_not_advance_counter():
    assert (rotation.peek_turn("web-search"), rotation.peek_turn("web-search")) == (
        1,
        1,
    )
    assert rotation.next_turn("web-search") == 1
    assert (rotation.peek_turn("web-search"), rotation.next_turn("web-search")) == (
        2,
        2,
    )


def test_threads_get_distinct_turns():
    def take_turns():
        return [rotation.next_turn("data-analysis") for _ in range(25)]

    with ThreadPoolExecutor(8) as threads:
        turns = list(threads.map(run_and_close_connection, [take_turns] * 8))

    assert sorted(chain.from_iterable(turns)) == list(range(1, 201))
    assert all(numbers == sorted(numbers) for numbers in turns)


def test_processes_get_distinct_turns_and_weighted_picks():
    weights = [("a", 100), ("b", 50), ("c", 37), ("d", 13)]
    turns, picks = take_turns_in_processes(10_000 // PROCESSES, weights)

    assert sorted(turns) == list(range(1, 10_001))
    shares = {name: count / 10_000 for name, count in Counter(picks).items()}
    assert shares == pytest.approx(
        {"a": 0.5, "b": 0.25, "c": 0.185, "d": 0.065}, abs=0.01
    )


def test_counter_is_stored_in_redis_or_database():
    rotation.next_turn("data-analysis")

    assert RoutingCounter.objects.exists() == (not settings.REDIS_URL)
    if settings.REDIS_URL:
        with redis.Redis.from_url(settings.REDIS_URL) as server:
            assert server.get("agentlens:turn:data-analysis:") == b"1"


def test_counter_falls_back_to_database_without_redis(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"

    assert [rotation.next_turn("data-analysis") for _ in range(3)] == [1, 2, 3]
    assert rotation.peek_turn("data-analysis") == 4


def test_only_load_balance_without_peek_advances_counter():
    RegistrationFactory(capability="web-search")
    for strategy in ("priority", "least_loaded", "fastest_response"):
        make_routing_decision(RoutingRequest("web-search", strategy=strategy))
    make_routing_decision(
        RoutingRequest("web-search", strategy="load_balance", peek=True)
    )
    assert rotation.peek_turn("web-search") == 1

    make_routing_decision(RoutingRequest("web-search", strategy="load_balance"))
    assert rotation.peek_turn("web-search") == 2


@pytest.mark.parametrize(
    "version", ["9.9.9", "x" * 1000, "nul\0"], ids=["unknown", "long", "nul"]
)
def test_unknown_version_creates_no_counter(version):
    """Otherwise readers could create any number of counters, of any length."""
    RegistrationFactory(capability="web-search")
    decision = make_routing_decision(
        RoutingRequest("web-search", version=version, strategy="load_balance")
    )

    assert decision.ranked_providers == []
    assert not RoutingCounter.objects.exists()
    assert rotation.peek_turn("web-search", "9.9.9") == 1


def test_unknown_capability_creates_no_counter():
    with pytest.raises(NoProvidersError):
        make_routing_decision(RoutingRequest("nonsense", strategy="load_balance"))
    assert rotation.peek_turn("nonsense") == 1

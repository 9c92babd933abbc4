"""The number of the next turn under `load_balance`, shared by all processes."""

import logging
from collections.abc import Callable
from functools import cache
from typing import Any

import redis
from django.conf import settings

from catalog.models import prepared_cursor

from .models import RoutingCounter

logger = logging.getLogger(__name__)

REDIS_KEY_PREFIX = "agentlens:turn:"

NEXT_TURN_SQL = """
INSERT INTO routing_counters (key, value) VALUES (%s, 1)
ON CONFLICT (key) DO UPDATE SET value = routing_counters.value + 1
RETURNING value
"""


def build_counter_key(capability: str, version: str) -> str:
    return f"{capability}:{version}"


@cache
def get_redis_client(url: str) -> redis.Redis:
    """Return the client of this process; threads share its connection pool."""
    return redis.Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1)


def run_redis_command(command: Callable[[redis.Redis], Any]) -> int | None:
    """Return the result of a command, or None if Redis is not set up or fails."""
    if not settings.REDIS_URL:
        return None
    try:
        return int(command(get_redis_client(settings.REDIS_URL)) or 0)
    except redis.RedisError as error:
        # The database has a counter of its own, so the rotation can repeat some turns.
        # That is better than no decision.
        logger.warning(
            "Redis failed, load_balance uses the counter in the database: %s", error
        )
        return None


def next_turn(capability: str, version: str = "") -> int:
    """Advance the counter and return its value; it repeats only if Redis fails."""
    key = build_counter_key(capability, version)
    turn = run_redis_command(lambda client: client.incr(REDIS_KEY_PREFIX + key))
    if turn is not None:
        return turn
    with prepared_cursor() as cursor:
        cursor.execute(NEXT_TURN_SQL, [key])
        return int(cursor.fetchone()[0])


def peek_turn(capability: str, version: str = "") -> int:
    """Return the value that `next_turn` would return, without advancing the counter."""
    key = build_counter_key(capability, version)
    value = run_redis_command(lambda client: client.get(REDIS_KEY_PREFIX + key))
    if value is None:
        values = RoutingCounter.objects.filter(key=key).values_list("value", flat=True)
        value = values.first() or 0
    return value + 1

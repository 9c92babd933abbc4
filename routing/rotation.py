"""Whose turn: one number after the other, the same for all processes."""

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


def counter_key(capability: str, version: str) -> str:
    return f"{capability}:{version}"


@cache
def redis_client(url: str) -> redis.Redis:
    """One for all threads of this process; it keeps a line for each."""
    return redis.Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1)


def from_redis(ask: Callable[[redis.Redis], Any]) -> int | None:
    """What it counts; None where there is none, or it does not answer."""
    if not settings.REDIS_URL:
        return None
    try:
        return int(ask(redis_client(settings.REDIS_URL)) or 0)
    except redis.RedisError:
        # Somebody has to take the request; whose turn it is matters less.
        logger.warning("Redis does not count turns; the database does")
        return None


def next_turn(capability: str, version: str = "") -> int:
    """The next number, nobody else's."""
    key = counter_key(capability, version)
    turn = from_redis(lambda server: server.incr(REDIS_KEY_PREFIX + key))
    if turn is not None:
        return turn
    with prepared_cursor() as cursor:
        cursor.execute(NEXT_TURN_SQL, [key])
        return int(cursor.fetchone()[0])


def peek_turn(capability: str, version: str = "") -> int:
    """The number that `next_turn` would give now, left where it is."""
    key = counter_key(capability, version)
    taken = from_redis(lambda server: server.get(REDIS_KEY_PREFIX + key))
    if taken is None:
        row = RoutingCounter.objects.filter(key=key).values_list("value", flat=True)
        taken = row.first() or 0
    return taken + 1

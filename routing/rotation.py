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

PREFIX = "agentlens:turn:"

NEXT = """
INSERT INTO routing_counters (key, value) VALUES (%s, 1)
ON CONFLICT (key) DO UPDATE SET value = routing_counters.value + 1
RETURNING value
"""


def key_of(capability: str, version: str) -> str:
    return f"{capability}:{version}"


@cache
def shared(url: str) -> redis.Redis:
    """One for all threads of this process; it keeps a line for each."""
    return redis.Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1)


def from_redis(ask: Callable[[redis.Redis], Any]) -> int | None:
    """What it counts; None where there is none, or it does not answer."""
    if not settings.REDIS_URL:
        return None
    try:
        return int(ask(shared(settings.REDIS_URL)) or 0)
    except redis.RedisError:
        # Somebody has to take the request; whose turn it is matters less.
        logger.warning("Redis does not count turns; the database does")
        return None


def take(capability: str, version: str = "") -> int:
    """The next number, nobody else's."""
    key = key_of(capability, version)
    turn = from_redis(lambda server: server.incr(PREFIX + key))
    if turn is not None:
        return turn
    with prepared_cursor() as cursor:
        cursor.execute(NEXT, [key])
        return int(cursor.fetchone()[0])


def peek(capability: str, version: str = "") -> int:
    """The number that `take` would give now, left where it is."""
    key = key_of(capability, version)
    taken = from_redis(lambda server: server.get(PREFIX + key))
    if taken is None:
        row = RoutingCounter.objects.filter(key=key).values_list("value", flat=True)
        taken = row.first() or 0
    return taken + 1

"""The counter behind `load_balance`, shared by all processes."""

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


def read_redis_counter(command: Callable[[redis.Redis], Any]) -> int | None:
    """Return the result of a Redis command, or None without a reachable Redis."""
    if not settings.REDIS_URL:
        return None
    try:
        return int(command(get_redis_client(settings.REDIS_URL)) or 0)
    except redis.RedisError:
        # A decision matters more than an exact rotation.
        logger.warning(
            "Redis is not available; load_balance uses the counter in the database"
        )
        return None


def next_turn(capability: str, version: str = "") -> int:
    """Advance the counter and return its value, which no other caller gets."""
    key = build_counter_key(capability, version)
    turn = read_redis_counter(lambda client: client.incr(REDIS_KEY_PREFIX + key))
    if turn is not None:
        return turn
    with prepared_cursor() as cursor:
        cursor.execute(NEXT_TURN_SQL, [key])
        return int(cursor.fetchone()[0])


def peek_turn(capability: str, version: str = "") -> int:
    """Return the value that `next_turn` would return, without advancing the counter."""
    key = build_counter_key(capability, version)
    value = read_redis_counter(lambda client: client.get(REDIS_KEY_PREFIX + key))
    if value is None:
        values = RoutingCounter.objects.filter(key=key).values_list("value", flat=True)
        value = values.first() or 0
    return value + 1

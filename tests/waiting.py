"""Waiting for a condition with a deadline."""

import time
from collections.abc import Callable

POLL_INTERVAL = 0.05


def wait_until(
    condition: Callable[[], bool],
    timeout: float = 60,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Return as soon as the condition is true; fail after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if condition():
            return
        sleep(POLL_INTERVAL)
    raise AssertionError(f"The condition was not met within {timeout} seconds")

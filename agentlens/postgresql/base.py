"""Django's PostgreSQL backend, with fewer health checks of open connections."""

import time

from django.db.backends.postgresql import base

# Seconds after a successful check during which the next one is skipped.
HEALTH_CHECK_INTERVAL = 1.0


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that is not checked before every single request.

    With `CONN_HEALTH_CHECKS`, Django sends a query at the start of each request,
    which can take as long as the request's own query.
    """

    last_usable_at = float("-inf")

    def is_usable(self) -> bool:
        now = time.monotonic()
        is_recent = now - self.last_usable_at < HEALTH_CHECK_INTERVAL
        if is_recent and not self.errors_occurred:
            return True
        usable = super().is_usable()
        self.last_usable_at = now if usable else float("-inf")
        return usable

    def close(self) -> None:
        self.last_usable_at = float("-inf")
        super().close()

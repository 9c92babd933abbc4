"""Django's own PostgreSQL, which asks less often whether its line still holds."""

import time

from django.db.backends.postgresql import base

# Seconds for which a line that was good is taken to be good.
FRESH = 1.0


class DatabaseWrapper(base.DatabaseWrapper):
    """Asking before each request costs as much as many a question itself."""

    good_at = float("-inf")

    def is_usable(self):
        now = time.monotonic()
        if not self.errors_occurred and now - self.good_at < FRESH:
            return True
        usable = super().is_usable()
        self.good_at = now if usable else float("-inf")
        return usable

    def close(self):
        self.good_at = float("-inf")
        return super().close()

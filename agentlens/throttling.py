import logging

from django.conf import settings
from redis import RedisError
from rest_framework.permissions import SAFE_METHODS
from rest_framework.throttling import UserRateThrottle

logger = logging.getLogger(__name__)


class WriteThrottle(UserRateThrottle):
    """So many writes a minute for each user; reading is free."""

    scope = "write"

    def get_rate(self):
        return f"{settings.AGENTLENS_WRITE_RATE}/minute"

    def wait(self):
        """Never unsaid, as it would be after writes that came in all at once."""
        return super().wait() or self.duration

    def allow_request(self, request, view):
        if request.method in SAFE_METHODS:
            return True
        try:
            return super().allow_request(request, view)
        except RedisError:
            # Without anybody to count, writing goes on.
            logger.warning("Redis does not count writes; none is refused")
            return True

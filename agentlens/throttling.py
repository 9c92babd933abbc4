import logging
from typing import TYPE_CHECKING

from django.conf import settings
from redis import RedisError
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.throttling import UserRateThrottle

if TYPE_CHECKING:
    from rest_framework.views import APIView

logger = logging.getLogger(__name__)


class WriteThrottle(UserRateThrottle):
    """Limits the writes of each user per minute; reads are not limited."""

    scope = "write"
    # Set by SimpleRateThrottle from the rate, in seconds.
    duration: int

    def get_rate(self) -> str:
        return f"{settings.AGENTLENS_WRITE_RATE}/minute"

    def wait(self) -> float:
        """Return the seconds until the next write is allowed.

        The base class returns None if more writes came in at once than are allowed.
        """
        return super().wait() or self.duration

    def allow_request(self, request: Request, view: "APIView") -> bool:
        if request.method in SAFE_METHODS:
            return True
        try:
            return super().allow_request(request, view)
        except RedisError:
            logger.warning("Redis is unavailable: writes are not rate limited")
            return True

from django.conf import settings
from rest_framework.permissions import SAFE_METHODS
from rest_framework.throttling import UserRateThrottle


class WriteThrottle(UserRateThrottle):
    """So many writes a minute for each user; reading is free."""

    scope = "write"

    def get_rate(self):
        return f"{settings.AGENTLENS_WRITE_RATE}/minute"

    def wait(self):
        """Never unsaid, as it would be after writes that came in all at once."""
        return super().wait() or self.duration

    def allow_request(self, request, view):
        return request.method in SAFE_METHODS or super().allow_request(request, view)

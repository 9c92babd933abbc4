"""From an `Authorization` header to a user."""

import re

from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed

TOKEN = re.compile(rb"[0-9A-Za-z_-]{16,128}")


class BearerAuthentication(TokenAuthentication):
    """A token as `agentlens token create` prints it; anything else is a 401."""

    def authenticate_credentials(self, token):
        if not TOKEN.fullmatch(token):
            raise AuthenticationFailed("Invalid token.")
        return super().authenticate_credentials(token)

    def _cleanup_token(self, auth_token) -> bool:
        """Whether this one has expired; knox would look at all of the user's."""
        expired = auth_token.expiry and auth_token.expiry < timezone.now()
        if expired:
            auth_token.delete()
        return bool(expired)


class BearerScheme(OpenApiAuthenticationExtension):
    target_class = BearerAuthentication
    name = "bearer"

    def get_security_definition(self, auto_schema):
        return {"type": "http", "scheme": "bearer"}

"""From an `Authorization` header to a user."""

import re

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


class BearerScheme(OpenApiAuthenticationExtension):
    target_class = BearerAuthentication
    name = "bearer"

    def get_security_definition(self, auto_schema):
        return {"type": "http", "scheme": "bearer"}

"""Token authentication for the API, in one database query."""

import binascii
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication
from knox.crypto import hash_token
from rest_framework.exceptions import AuthenticationFailed

from catalog.models import prepared_cursor

from .roles import PERMISSION_NAME_SQL, PERMISSIONS_FROM_SQL

if TYPE_CHECKING:
    from drf_spectacular.openapi import AutoSchema

TOKEN_PATTERN = re.compile(rb"[0-9A-Za-z_-]{16,128}")
STRING_AGGREGATES = {"postgresql": "string_agg", "sqlite": "group_concat"}
# In the order of the model's fields; Django loads the others when they are used.
USER_COLUMNS = ["id", "is_superuser", "username", "is_staff", "is_active"]
# Selects the user of a token digest and the names of all permissions of the user.
USER_QUERY = """
SELECT {columns}, (SELECT {string_aggregate}({permission}, ' ') {permissions_from})
FROM auth_user token_user
JOIN knox_authtoken token ON token.user_id = token_user.id
WHERE token.digest = %s AND token_user.is_active
AND (token.expiry IS NULL OR token.expiry > %s)
"""


@cache
def build_user_query(vendor: str) -> str:
    return USER_QUERY.format(
        columns=", ".join(f"token_user.{column}" for column in USER_COLUMNS),
        string_aggregate=STRING_AGGREGATES[vendor],
        permission=PERMISSION_NAME_SQL,
        permissions_from=PERMISSIONS_FROM_SQL.format(user="token_user.id"),
    )


class BearerAuthentication(TokenAuthentication):
    """Accepts tokens created by `agentlens token create`."""

    def authenticate_credentials(self, token: bytes) -> tuple[User, None]:
        """Return the token's user; raise AuthenticationFailed for a bad token.

        Replaces Knox's own lookup, which needs more queries per request.
        """
        user = get_token_user(token) if TOKEN_PATTERN.fullmatch(token) else None
        if user is None:
            raise AuthenticationFailed("The token is invalid or has expired.")
        return user, None


def get_token_user(token: bytes) -> User | None:
    """Return the user of a valid token, with permissions loaded, in one query."""
    try:
        digest = hash_token(token.decode())
    except binascii.Error:
        return None
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    with prepared_cursor() as cursor:
        cursor.execute(build_user_query(connection.vendor), [digest, now])
        row = cursor.fetchone()
    return build_user(row) if row else None


def build_user(row: tuple[Any, ...]) -> User:
    """Return a user from a row of `USER_QUERY`; other fields are deferred."""
    *values, permissions = row
    user = get_user_model().from_db(connection.alias, USER_COLUMNS, values)
    if not user.is_superuser:
        # Read by RolesBackend.get_all_permissions().
        user._perm_cache = set(  # type: ignore[attr-defined]  # Django's own cache
            (permissions or "").split()
        )
    return user


class BearerScheme(
    OpenApiAuthenticationExtension  # type: ignore[no-untyped-call]  # at subclassing
):
    target_class = BearerAuthentication
    name = "bearer"

    def get_security_definition(self, auto_schema: "AutoSchema") -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer"}

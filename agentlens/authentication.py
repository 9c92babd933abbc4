"""From an `Authorization` header to a user."""

import binascii
import re
from functools import cache

from django.contrib.auth import get_user_model
from django.db import connection
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication
from knox.crypto import hash_token
from rest_framework.exceptions import AuthenticationFailed

from catalog.models import prepared_cursor

from .roles import HELD_BY, PERMISSION

TOKEN = re.compile(rb"[0-9A-Za-z_-]{16,128}")
GATHERED = {"postgresql": "string_agg", "sqlite": "group_concat"}
# In the model's own order.
COLUMNS = ["id", "is_superuser", "username", "is_staff", "is_active"]
# By the whole digest, which only the token itself gives.
HOLDER = """
SELECT {columns}, (SELECT {gathered}({permission}, ' ') {held_by})
FROM auth_user holder
JOIN knox_authtoken token ON token.user_id = holder.id
WHERE token.digest = %s AND holder.is_active
AND (token.expiry IS NULL OR token.expiry > %s)
"""


@cache
def holder_sql(vendor: str) -> str:
    return HOLDER.format(
        columns=", ".join(f"holder.{column}" for column in COLUMNS),
        gathered=GATHERED[vendor],
        permission=PERMISSION,
        held_by=HELD_BY.format(user="holder.id"),
    )


class BearerAuthentication(TokenAuthentication):
    """A token as `agentlens token create` prints it; anything else is a 401."""

    def authenticate_credentials(self, token):
        """Who holds it; written out, for every request of every program asks this."""
        user = holder_of(token) if TOKEN.fullmatch(token) else None
        if user is None:
            raise AuthenticationFailed("Invalid token.")
        return user, None


def holder_of(token: bytes):
    """The user, and all that it may, in one look; what else is known of it, later."""
    try:
        digest = hash_token(token.decode())
    except binascii.Error:
        return None
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    with prepared_cursor() as cursor:
        cursor.execute(holder_sql(connection.vendor), [digest, now])
        row = cursor.fetchone()
    return made_of(row) if row else None


def made_of(row):
    *values, permissions = row
    user = get_user_model().from_db(connection.alias, COLUMNS, values)
    if not user.is_superuser:
        user._perm_cache = set((permissions or "").split())
    return user


class BearerScheme(OpenApiAuthenticationExtension):
    target_class = BearerAuthentication
    name = "bearer"

    def get_security_definition(self, auto_schema):
        return {"type": "http", "scheme": "bearer"}

"""Statements that every request asks: PostgreSQL plans them once for a connection."""

from contextlib import contextmanager

from django.db import connection


@contextmanager
def prepared_cursor():
    """Like the usual one; the ORM's own merges values into the text, which differs."""
    if connection.vendor != "postgresql":
        with connection.cursor() as usual:
            yield usual
        return
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    from django.db.backends.postgresql.base import ServerBindingCursor  # noqa: PLC0415

    bound = ServerBindingCursor(connection.connection)
    with connection._prepare_cursor(bound) as cursor:
        yield cursor

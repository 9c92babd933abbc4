"""Prepared statements, which PostgreSQL plans once per connection."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.db.backends.utils import CursorWrapper


@contextmanager
def prepared_cursor() -> Iterator[CursorWrapper]:
    """Open a cursor that sends parameters separately, so that statements are prepared.

    The default cursor merges the values into the SQL, which then differs every time.
    """
    if connection.vendor != "postgresql":
        with connection.cursor() as cursor:
            yield cursor
        return
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    from django.db.backends.postgresql.base import ServerBindingCursor  # noqa: PLC0415

    # django-stubs has no types for these parts of the PostgreSQL backend.
    server_cursor = ServerBindingCursor(connection.connection)  # type: ignore[call-arg]
    with connection._prepare_cursor(server_cursor) as cursor:  # type: ignore[attr-defined]
        yield cursor

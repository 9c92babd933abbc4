"""When the PostgreSQL backend checks that its connection is usable."""

import psycopg
import pytest
from django.db import Error, connection

from agentlens.postgresql import base

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="PostgreSQL only"),
]


@pytest.fixture
def checked_connection():
    """Yield the connection, just checked to be usable."""
    connection.close()
    connection.ensure_connection()
    assert connection.is_usable()
    yield connection
    connection.close()


def terminate(connection):
    """End the connection on the server, as a restart of the database does."""
    process_id = connection.connection.info.backend_pid
    with psycopg.connect(connection.connection.info.dsn, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [process_id])


def test_connection_checked_recently_is_not_checked_again(
    checked_connection, django_assert_num_queries
):
    with django_assert_num_queries(0):
        assert checked_connection.is_usable()


def test_connection_is_checked_again_after_interval(checked_connection, monkeypatch):
    terminate(checked_connection)
    monkeypatch.setattr(base, "HEALTH_CHECK_INTERVAL", 0)

    assert not checked_connection.is_usable()


def test_connection_with_error_is_checked_and_replaced(checked_connection):
    terminate(checked_connection)
    with pytest.raises(Error), checked_connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    checked_connection.close_if_unusable_or_obsolete()

    with checked_connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)

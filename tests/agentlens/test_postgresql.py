"""A line to PostgreSQL is asked whether it holds now and then, and when it failed."""

import psycopg
import pytest
from django.db import Error, connection

from agentlens.postgresql import base

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL only"),
]


@pytest.fixture
def line():
    """Ours, known to be good."""
    connection.close()
    connection.ensure_connection()
    assert connection.is_usable()
    yield connection
    connection.close()


def cut(line):
    """What a restart of the database does to it."""
    process = line.connection.info.backend_pid
    with psycopg.connect(line.connection.info.dsn, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [process])


def test_a_good_line_is_not_asked_again_at_once(line, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert line.is_usable()


def test_after_a_moment_it_is(line, monkeypatch):
    cut(line)
    monkeypatch.setattr(base, "FRESH", 0)

    assert not line.is_usable()


def test_one_that_failed_is_asked_and_replaced(line):
    cut(line)
    with pytest.raises(Error), line.cursor() as cursor:
        cursor.execute("SELECT 1")
    line.close_if_unusable_or_obsolete()

    with line.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)

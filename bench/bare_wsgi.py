"""A minimal WSGI server: it runs recorded SQL on a raw connection and returns JSON.

No server in Python that runs the same SQL is much faster.
"""

import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import parse_qs

import django
import orjson
import psycopg
from a2wsgi import WSGIMiddleware

django.setup()

from django.conf import settings  # noqa: E402 - Django first
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402

from catalog import search  # noqa: E402

from .http_server import build_path  # noqa: E402
from .queries import LIMIT, BenchQuery, build_queries  # noqa: E402

Statement = tuple[str, tuple]


class Recording(NamedTuple):
    """The SQL of one query, and how many results it has on all pages."""

    total: int
    statements: list[Statement]


IS_POSTGRESQL = connection.vendor == "postgresql"
SIZE, TOKEN = int(os.environ["BENCH_SIZE"]), os.environ["BENCH_TOKEN"]


@contextmanager
def record_statements() -> Iterator[list[Statement]]:
    statements: list[Statement] = []

    def record(execute: Callable, sql: str, params, many: bool, context: dict):
        raw = sql if IS_POSTGRESQL else re.sub("(?<!%)%s", "?", sql).replace("%%", "%")
        statements.append((raw, tuple(params or ())))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(record):
        yield statements


def record_search(query: BenchQuery) -> Recording:
    """Record the SQL of the search alone."""
    search_query = search.SearchQuery(query.q, query.kind, query.sort)
    with record_statements() as statements:
        page = search.search_capabilities(search_query, LIMIT, query.offset)
    return Recording(page.total, statements)


def record_endpoint(query: BenchQuery) -> Recording:
    """Record all SQL of the endpoint, including that of authentication."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with record_statements() as statements:
        response = Client(SERVER_NAME="localhost").get(
            build_path(query), headers=headers
        )
    return Recording(response.json()["total"], statements)


def record_all(record: Callable[[BenchQuery], Recording]) -> list[Recording]:
    """Record every query, in a second run: a running server has warm caches, too."""
    queries = build_queries(SIZE)
    for query in queries:
        record(query)
    return [record(query) for query in queries]


RECORDINGS = {
    "search": record_all(record_search),
    "endpoint": record_all(record_endpoint),
}
connection.close()
local = threading.local()


def get_connection():
    if not hasattr(local, "connection"):
        local.connection = open_connection()
    return local.connection


def open_connection():
    database = settings.DATABASES["default"]
    if not IS_POSTGRESQL:
        return sqlite3.connect(database["NAME"], isolation_level=None)
    names = {"HOST": "host", "PORT": "port", "NAME": "dbname", "USER": "user"}
    parameters = {names[key]: database[key] for key in names}
    cursor = psycopg.ClientCursor
    return psycopg.connect(**parameters, autocommit=True, cursor_factory=cursor)


def bare_application(environ, start_response) -> list[bytes]:
    parameters = parse_qs(environ["QUERY_STRING"])
    recordings = RECORDINGS[parameters["recording"][0]]
    total, statements = recordings[int(parameters["n"][0])]
    cursor = get_connection().cursor()
    for sql, params in statements:
        rows = cursor.execute(sql, params).fetchall()
    # The last statement selects the page.
    names = [column[0] for column in cursor.description]
    items = [dict(zip(names, row, strict=True)) for row in rows]
    body = orjson.dumps({"total": total, "items": items})
    length = ("Content-Length", str(len(body)))
    start_response("200 OK", [("Content-Type", "application/json"), length])
    return [body]


application = WSGIMiddleware(bare_application, workers=16)

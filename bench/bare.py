"""The least a Python server can do: the endpoint's SQL on a raw connection, as JSON."""

import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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

from .queries import LIMIT, Ask, asks  # noqa: E402
from .served import path  # noqa: E402

Statement = tuple[str, tuple]
POSTGRESQL = connection.vendor == "postgresql"
SIZE, TOKEN = int(os.environ["BENCH_SIZE"]), os.environ["BENCH_TOKEN"]


@contextmanager
def recording() -> Iterator[list[Statement]]:
    statements: list[Statement] = []

    def record(execute: Callable, sql: str, params, many: bool, context: dict):
        raw = sql if POSTGRESQL else re.sub("(?<!%)%s", "?", sql).replace("%%", "%")
        statements.append((raw, tuple(params or ())))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(record):
        yield statements


def searching(ask: Ask) -> tuple[int, list[Statement]]:
    """What the search alone says to the database, and the total it got."""
    question = search.SearchQuery(ask.q, ask.kind, ask.sort)
    with recording() as statements:
        page = search.search_capabilities(question, LIMIT, ask.offset)
    return page.total, statements


def whole(ask: Ask) -> tuple[int, list[Statement]]:
    """What the endpoint says: who is asking, what they may, and the search."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with recording() as statements:
        answer = Client(SERVER_NAME="localhost").get(path(ask), headers=headers)
    return answer.json()["total"], statements


# Each twice, for what the second time is spared belongs to the endpoint as it runs.
ASKS = asks(SIZE)
PLANS = {
    how.__name__: [how(ask) for _ in range(2) for ask in ASKS][len(ASKS) :]
    for how in (searching, whole)
}
connection.close()
local = threading.local()


def connected():
    if not hasattr(local, "connection"):
        local.connection = raw_connection()
    return local.connection


def raw_connection():
    database = settings.DATABASES["default"]
    if not POSTGRESQL:
        return sqlite3.connect(database["NAME"], isolation_level=None)
    names = {"HOST": "host", "PORT": "port", "NAME": "dbname", "USER": "user"}
    given = {names[key]: database[key] for key in names}
    cursor = psycopg.ClientCursor
    return psycopg.connect(**given, autocommit=True, cursor_factory=cursor)


def bare(environ, start_response) -> list[bytes]:
    asked = parse_qs(environ["QUERY_STRING"])
    total, statements = PLANS[asked["plan"][0]][int(asked["n"][0])]
    cursor = connected().cursor()
    for sql, params in statements:
        rows = cursor.execute(sql, params).fetchall()
    # The last statement is the page.
    names = [column[0] for column in cursor.description]
    found = [dict(zip(names, row, strict=True)) for row in rows]
    body = orjson.dumps({"total": total, "items": found})
    length = ("Content-Length", str(len(body)))
    start_response("200 OK", [("Content-Type", "application/json"), length])
    return [body]


application = WSGIMiddleware(bare, workers=16)

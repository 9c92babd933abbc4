"""The text index under the search rows: SQLite's FTS5, or PostgreSQL's trigrams."""

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

# One trigger for an update: with its two halves in two, the index was corrupted.
SQLITE = [
    """
    CREATE VIRTUAL TABLE IF NOT EXISTS search_fts USING fts5(
        text, content='search_rows', content_rowid='id',
        tokenize='trigram case_sensitive 1')
    """,
    """
    CREATE TRIGGER IF NOT EXISTS search_rows_insert AFTER INSERT ON search_rows BEGIN
        INSERT INTO search_fts(rowid, text) VALUES (new.id, new.text);
    END
    """,
    """
    CREATE TRIGGER IF NOT EXISTS search_rows_delete AFTER DELETE ON search_rows BEGIN
        INSERT INTO search_fts(search_fts, rowid, text)
        VALUES ('delete', old.id, old.text);
    END
    """,
    """
    CREATE TRIGGER IF NOT EXISTS search_rows_update AFTER UPDATE ON search_rows BEGIN
        INSERT INTO search_fts(search_fts, rowid, text)
        VALUES ('delete', old.id, old.text);
        INSERT INTO search_fts(rowid, text) VALUES (new.id, new.text);
    END
    """,
    # What was written while a trigger was missing is not in it yet.
    "INSERT INTO search_fts(search_fts) VALUES ('rebuild')",
]
# What waits to be sorted in, every search reads: let it be little (kB).
POSTGRESQL = [
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    """
    CREATE INDEX search_rows_trigrams
    ON search_rows USING gin (text gin_trgm_ops) WITH (gin_pending_list_limit = 256)
    """,
]


CREATE = {"sqlite": SQLITE, "postgresql": POSTGRESQL}
SQLITE_PARTS = [
    "search_rows_insert",
    "search_rows_delete",
    "search_rows_update",
    "search_fts",
]


def create_text_index(connection: BaseDatabaseWrapper) -> None:
    """Make it, unless it is whole: when SQLite remakes a table, its triggers go."""
    with connection.cursor() as cursor:
        if is_whole(connection.vendor, cursor):
            return
        for statement in CREATE[connection.vendor]:
            cursor.execute(statement)


def drop_text_index(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("DROP INDEX IF EXISTS search_rows_trigrams")
            return
        *triggers, table = SQLITE_PARTS
        for trigger in triggers:
            cursor.execute(f"DROP TRIGGER IF EXISTS {trigger}")
        cursor.execute(f"DROP TABLE IF EXISTS {table}")


def rebuild_text_index(connection: BaseDatabaseWrapper) -> None:
    """Read all rows again; PostgreSQL keeps its own index right."""
    if connection.vendor == "sqlite":
        drop_text_index(connection)
    create_text_index(connection)


def is_whole(vendor: str, cursor: CursorWrapper) -> bool:
    if vendor == "postgresql":
        cursor.execute("SELECT to_regclass('search_rows_trigrams')")
        return bool(cursor.fetchone() != (None,))
    cursor.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'trigger')")
    return {(name,) for name in SQLITE_PARTS} <= set(cursor.fetchall())

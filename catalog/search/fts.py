"""The text index of the search rows: FTS5 on SQLite, trigrams on PostgreSQL."""

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

# A single trigger handles updates: two, for delete and insert, corrupted the index.
SQLITE_STATEMENTS = [
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
    # Add rows that were written while a trigger was missing.
    "INSERT INTO search_fts(search_fts) VALUES ('rebuild')",
]
# Every search scans the pending list of the index, so its limit (in kB) is low.
POSTGRESQL_STATEMENTS = [
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    """
    CREATE INDEX search_rows_trigrams
    ON search_rows USING gin (text gin_trgm_ops) WITH (gin_pending_list_limit = 256)
    """,
]
CREATE_STATEMENTS = {
    "sqlite": SQLITE_STATEMENTS,
    "postgresql": POSTGRESQL_STATEMENTS,
}
# The triggers, then the table.
SQLITE_OBJECTS = [
    "search_rows_insert",
    "search_rows_delete",
    "search_rows_update",
    "search_fts",
]


def create_text_index(connection: BaseDatabaseWrapper) -> None:
    """Create the index, or the missing parts of it.

    Migrations on SQLite may replace the table of search rows, which drops its triggers.
    """
    with connection.cursor() as cursor:
        if is_text_index_complete(connection.vendor, cursor):
            return
        for statement in CREATE_STATEMENTS[connection.vendor]:
            cursor.execute(statement)


def drop_text_index(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("DROP INDEX IF EXISTS search_rows_trigrams")
            return
        *triggers, table = SQLITE_OBJECTS
        for trigger in triggers:
            cursor.execute(f"DROP TRIGGER IF EXISTS {trigger}")
        cursor.execute(f"DROP TABLE IF EXISTS {table}")


def rebuild_text_index(connection: BaseDatabaseWrapper) -> None:
    """Create the index again on SQLite; PostgreSQL's is always consistent."""
    if connection.vendor == "sqlite":
        drop_text_index(connection)
    create_text_index(connection)


def is_text_index_complete(vendor: str, cursor: CursorWrapper) -> bool:
    if vendor == "postgresql":
        cursor.execute("SELECT to_regclass('search_rows_trigrams')")
        return bool(cursor.fetchone() != (None,))
    cursor.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'trigger')")
    return {(name,) for name in SQLITE_OBJECTS} <= set(cursor.fetchall())

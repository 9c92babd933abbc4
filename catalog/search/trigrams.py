"""The text index under the search rows: SQLite's FTS5, or PostgreSQL's trigrams."""

from django.db.backends.base.base import BaseDatabaseWrapper

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
]
POSTGRESQL = [
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    """
    CREATE INDEX IF NOT EXISTS search_rows_trigrams
    ON search_rows USING gin (text gin_trgm_ops)
    """,
]


def create_text_index(connection: BaseDatabaseWrapper) -> None:
    """Make it, or what is missing of it: remaking a table drops its triggers."""
    statements = {"sqlite": SQLITE, "postgresql": POSTGRESQL}
    with connection.cursor() as cursor:
        for statement in statements[connection.vendor]:
            cursor.execute(statement)


def rebuild_text_index(connection: BaseDatabaseWrapper) -> None:
    """Read all rows again; PostgreSQL's index needs no such help."""
    create_text_index(connection)
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO search_fts(search_fts) VALUES ('rebuild')")

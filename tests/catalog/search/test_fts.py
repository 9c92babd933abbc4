"""The text index of the search rows: its creation, repair and use."""

import pytest
from django.core.management import call_command
from django.db import connection

from catalog import search
from catalog.models import SearchRow
from catalog.search import SearchQuery
from catalog.search.indexer import index_entries
from catalog.search.query import SORT_COLUMNS, filter_rows, filter_rows_in_order
from tests.factories import CapabilityFactory, CatalogEntryFactory

pytestmark = pytest.mark.django_db

on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite only")
on_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="PostgreSQL only"
)
TRIGGERS = ["search_rows_delete", "search_rows_insert", "search_rows_update"]


def fetch_column(statement: str) -> list:
    """Execute SQL and return the first column of the result."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return [row[0] for row in cursor.fetchall()]


def list_triggers() -> list[str]:
    return fetch_column(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name"
    )


def check_integrity() -> None:
    fetch_column(
        "INSERT INTO search_fts(search_fts, rank) VALUES ('integrity-check', 1)"
    )


def migrate() -> None:
    call_command("migrate", verbosity=0)


def count_matches(q: str) -> int:
    return search.search_capabilities(SearchQuery(q), 50).total


@on_sqlite
def test_migrate_creates_fts_table_and_triggers():
    assert fetch_column("SELECT name FROM sqlite_master WHERE name = 'search_fts'")
    assert list_triggers() == TRIGGERS


@on_sqlite
@pytest.mark.parametrize("trigger", TRIGGERS)
def test_migrate_restores_trigger_and_missed_rows(trigger):
    entry = CatalogEntryFactory(offers=["a2a.skill"])
    fetch_column(f"DROP TRIGGER {trigger}")
    CapabilityFactory(agent_type=entry.agent_type, name="Written later")
    index_entries(type(entry).objects.all())
    migrate()

    assert list_triggers() == TRIGGERS
    assert count_matches("later") == 1
    check_integrity()


@on_sqlite
def test_migrate_restores_fts_table():
    CatalogEntryFactory(offers=["a2a.skill"])
    fetch_column("DROP TABLE search_fts")
    migrate()

    assert count_matches("skill") == 1
    check_integrity()


@on_sqlite
def test_migrate_leaves_intact_fts_table_unchanged():
    CatalogEntryFactory(offers=["a2a.skill"])
    before = fetch_column("SELECT sql FROM sqlite_master ORDER BY name")
    migrate()

    assert fetch_column("SELECT sql FROM sqlite_master ORDER BY name") == before
    check_integrity()


@on_sqlite
@pytest.mark.django_db(transaction=True)
def test_migrate_restores_triggers_of_recreated_table():
    """`AlterField` remakes the table on SQLite."""
    CatalogEntryFactory(offers=["a2a.skill"])
    with connection.schema_editor() as editor:
        editor._remake_table(SearchRow)
    assert list_triggers() == []
    migrate()

    assert list_triggers() == TRIGGERS
    CatalogEntryFactory(offers=["mcp.tool"])
    assert count_matches("skill") == 2
    check_integrity()


@pytest.mark.django_db(transaction=True)
def test_migrations_are_reversible():
    for target in ("0002", "0001", "0002", "0003"):
        call_command("migrate", "catalog", target, verbosity=0)
    migrate()
    CatalogEntryFactory(offers=["a2a.skill"])

    assert count_matches("skill") == 1
    if connection.vendor == "sqlite":
        check_integrity()


@on_sqlite
def test_update_keeps_fts_table_consistent():
    """Separate delete and insert triggers would corrupt the table."""
    CatalogEntryFactory(offers=["a2a.skill", "mcp.tool"])
    SearchRow.objects.update(text="entirely new text")
    check_integrity()

    assert (count_matches("entirely"), count_matches("skill")) == (2, 0)


@on_sqlite
def test_primary_key_is_stable_under_vacuum():
    schema = fetch_column("SELECT sql FROM sqlite_master WHERE name = 'search_rows'")[0]

    assert '"id" integer NOT NULL PRIMARY KEY AUTOINCREMENT' in schema


@on_sqlite
@pytest.mark.parametrize(
    ("sort", "index"), [("name_asc", "name"), ("agentName_asc", "entry")]
)
@pytest.mark.parametrize("kind", ["", "a2a.skill"])
def test_many_matches_use_ordering_index_without_sorting(kind, sort, index):
    rows = filter_rows_in_order(SearchQuery("translate", kind)).order_by(
        *SORT_COLUMNS[sort]
    )
    plan = rows.values_list("id", flat=True).explain()

    assert f"row_by_{'kind_' if kind else ''}{index}" in plan
    assert "search_fts VIRTUAL TABLE" in plan
    assert "TEMP B-TREE" not in plan


@on_sqlite
@pytest.mark.parametrize("kind", ["", "a2a.skill"])
def test_few_matches_use_fts_table(kind):
    plan = filter_rows(SearchQuery("translate", kind)).values_list("id").explain()

    assert "USING INTEGER PRIMARY KEY" in plan
    assert "search_fts VIRTUAL TABLE" in plan


@on_sqlite
@pytest.mark.parametrize("kind", ["", "a2a.skill"])
def test_counting_all_rows_uses_smallest_covering_index(kind):
    plan = filter_rows(SearchQuery("", kind)).values_list("kind").explain()

    assert "USING COVERING INDEX row_by_kind (" in plan


@on_postgresql
def test_trigram_index_exists():
    definitions = fetch_column(
        "SELECT indexdef FROM pg_indexes WHERE indexname = 'search_rows_trigrams'"
    )
    assert "USING gin (text gin_trgm_ops)" in definitions[0]


@on_postgresql
def test_migrate_restores_trigram_index():
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX search_rows_trigrams")
    migrate()

    assert fetch_column(
        "SELECT 1 FROM pg_indexes WHERE indexname = 'search_rows_trigrams'"
    )


@on_postgresql
def test_text_columns_have_c_collation():
    collations = fetch_column(
        "SELECT DISTINCT collation_name FROM information_schema.columns"
        " WHERE table_name = 'search_rows' AND data_type = 'text'"
    )
    assert collations == ["C"]


@on_postgresql
@pytest.mark.parametrize("q", ["a", "ab", "c++", "a_b", "%%", "a-b-c", '"', "é2"])
def test_term_without_trigram_does_not_use_index(q):
    """Scanning the whole trigram index would be slower than using none."""
    sql = str(filter_rows(SearchQuery(q)).query)

    assert "STRPOS" in sql
    assert "LIKE" not in sql


@on_postgresql
@pytest.mark.parametrize("q", ["abc", "żółw", "100%", "x_abc"])
def test_term_with_trigram_uses_index(q):
    sql = str(filter_rows(SearchQuery(q)).query)

    assert "LIKE" in sql
    assert "STRPOS" not in sql


@pytest.mark.parametrize(
    "literal",
    [
        "%",
        "_",
        "\\",
        '"',
        'quo"te',
        '""x"',
        "*",
        "c++",
        "-",
        "AND",
        "NEAR(",
        ":",
        "100%",
        "a_b",
        "x\\y",
    ],
)
def test_database_special_characters_are_matched_literally(literal):
    entry = CatalogEntryFactory()
    for name in (f"With {literal} in it", "With none in it"):
        CapabilityFactory(agent_type=entry.agent_type, name=name)
    index_entries(type(entry).objects.all())

    for q in (literal, f"{literal} with", f"with {literal} in"):
        items = search.search_capabilities(SearchQuery(q), 50).items
        assert [item["name"] for item in items] == [f"With {literal} in it"]


@pytest.mark.parametrize(
    "q",
    [
        " ".join(f"{n:03}" for n in range(250)),
        " ".join(chr(0x4E00 + n) for n in range(500)),
        '"' * 1_000,
        "ﷺ" * 1_000,
        "a" * 1_000,
        "(" * 1_000,
    ],
    ids=["250 terms", "500 letters", "quotes", "ligatures", "one word", "brackets"],
)
def test_longest_queries_are_answered(q):
    CatalogEntryFactory(offers=["a2a.skill"])

    assert count_matches(q) == 0
    assert set(search.count_by_kind(q).values()) == {0}

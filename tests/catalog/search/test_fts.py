"""The index under the search rows: there, whole, and made again when it is not."""

import pytest
from django.core.management import call_command
from django.db import connection

from catalog import search
from catalog.models import SearchRow
from catalog.search import SearchQuery
from catalog.search.indexer import index_entries
from catalog.search.query import ORDERS, in_passing, matching_rows
from tests.factories import CapabilityFactory, CatalogEntryFactory

pytestmark = pytest.mark.django_db

on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite's own")
on_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="PostgreSQL's own"
)
TRIGGERS = ["search_rows_delete", "search_rows_insert", "search_rows_update"]


def column(statement: str) -> list:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return [row[0] for row in cursor.fetchall()]


def triggers() -> list[str]:
    return column("SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name")


def check_integrity() -> None:
    column("INSERT INTO search_fts(search_fts, rank) VALUES ('integrity-check', 1)")


def migrate() -> None:
    call_command("migrate", verbosity=0)


def total(q: str) -> int:
    return search.search_capabilities(SearchQuery(q), 50).total


@on_sqlite
def test_the_table_and_its_three_triggers_are_there_after_migrating():
    assert column("SELECT name FROM sqlite_master WHERE name = 'search_fts'")
    assert triggers() == TRIGGERS


@on_sqlite
@pytest.mark.parametrize("trigger", TRIGGERS)
def test_migrating_brings_a_lost_trigger_back_and_what_it_missed(trigger):
    entry = CatalogEntryFactory(offers=["a2a.skill"])
    column(f"DROP TRIGGER {trigger}")
    CapabilityFactory(agent_type=entry.agent_type, name="Written meanwhile")
    index_entries(type(entry).objects.all())
    migrate()

    assert triggers() == TRIGGERS
    assert total("meanwhile") == 1
    check_integrity()


@on_sqlite
def test_migrating_brings_a_lost_table_back():
    CatalogEntryFactory(offers=["a2a.skill"])
    column("DROP TABLE search_fts")
    migrate()

    assert total("skill") == 1
    check_integrity()


@on_sqlite
def test_migrating_again_leaves_a_whole_index_alone():
    CatalogEntryFactory(offers=["a2a.skill"])
    before = column("SELECT sql FROM sqlite_master ORDER BY name")
    migrate()

    assert column("SELECT sql FROM sqlite_master ORDER BY name") == before
    check_integrity()


@on_sqlite
@pytest.mark.django_db(transaction=True)
def test_a_remade_table_has_its_triggers_again_after_migrating():
    """As `AlterField` remakes it."""
    CatalogEntryFactory(offers=["a2a.skill"])
    with connection.schema_editor() as editor:
        editor._remake_table(SearchRow)
    assert triggers() == []
    migrate()

    assert triggers() == TRIGGERS
    CatalogEntryFactory(offers=["mcp.tool"])
    assert total("skill") == 2
    check_integrity()


@pytest.mark.django_db(transaction=True)
def test_the_migrations_go_back_and_forth_one_by_one():
    for target in ("0002", "0001", "0002", "0003"):
        call_command("migrate", "catalog", target, verbosity=0)
    migrate()
    CatalogEntryFactory(offers=["a2a.skill"])

    assert total("skill") == 1
    if connection.vendor == "sqlite":
        check_integrity()


@on_sqlite
def test_an_update_is_followed_whole():
    """In two triggers, its delete and its insert once corrupted the index."""
    CatalogEntryFactory(offers=["a2a.skill", "mcp.tool"])
    SearchRow.objects.update(text="wholly new words")
    check_integrity()

    assert (total("wholly"), total("skill")) == (2, 0)


@on_sqlite
def test_the_key_is_an_integer_that_a_vacuum_leaves_alone():
    described = column("SELECT sql FROM sqlite_master WHERE name = 'search_rows'")[0]

    assert '"id" integer NOT NULL PRIMARY KEY AUTOINCREMENT' in described


@on_sqlite
@pytest.mark.parametrize(
    ("sort", "index"), [("name_asc", "name"), ("agentName_asc", "entry")]
)
@pytest.mark.parametrize("kind", ["", "a2a.skill"])
def test_many_matches_are_met_along_the_ordering_index_and_never_sorted(
    kind, sort, index
):
    rows = in_passing(SearchQuery("translate", kind)).order_by(*ORDERS[sort])
    told = rows.values_list("id", flat=True).explain()

    assert f"row_by_{'kind_' if kind else ''}{index}" in told
    assert "search_fts VIRTUAL TABLE" in told
    assert "TEMP B-TREE" not in told


@on_sqlite
@pytest.mark.parametrize("kind", ["", "a2a.skill"])
def test_few_matches_are_looked_up_by_the_text_index(kind):
    told = matching_rows(SearchQuery("translate", kind)).values_list("id").explain()

    assert "USING INTEGER PRIMARY KEY" in told
    assert "search_fts VIRTUAL TABLE" in told


@on_sqlite
@pytest.mark.parametrize("kind", ["", "a2a.skill"])
def test_everything_is_counted_in_the_smallest_index(kind):
    told = matching_rows(SearchQuery("", kind)).values_list("kind").explain()

    assert "USING COVERING INDEX row_by_kind (" in told


@on_postgresql
def test_the_trigram_index_is_there():
    found = column(
        "SELECT indexdef FROM pg_indexes WHERE indexname = 'search_rows_trigrams'"
    )
    assert "USING gin (text gin_trgm_ops)" in found[0]


@on_postgresql
def test_migrating_brings_a_lost_trigram_index_back():
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX search_rows_trigrams")
    migrate()

    assert column("SELECT 1 FROM pg_indexes WHERE indexname = 'search_rows_trigrams'")


@on_postgresql
def test_texts_are_ordered_by_their_bytes():
    collations = column(
        "SELECT DISTINCT collation_name FROM information_schema.columns"
        " WHERE table_name = 'search_rows' AND data_type = 'text'"
    )
    assert collations == ["C"]


@on_postgresql
@pytest.mark.parametrize("q", ["a", "ab", "c++", "a_b", "%%", "a-b-c", '"', "é2"])
def test_a_term_without_three_letters_in_a_row_is_read_for(q):
    """The trigram index would be read whole, eight times slower than none."""
    told = str(matching_rows(SearchQuery(q)).query)

    assert "STRPOS" in told
    assert "LIKE" not in told


@on_postgresql
@pytest.mark.parametrize("q", ["abc", "żółw", "100%", "x_abc"])
def test_a_term_with_three_letters_in_a_row_is_looked_up(q):
    told = str(matching_rows(SearchQuery(q)).query)

    assert "LIKE" in told
    assert "STRPOS" not in told


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
def test_what_means_something_to_a_database_is_only_a_text(literal):
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
    ids=["250 terms", "500 letters", "quotes", "ligatures", "a word", "brackets"],
)
def test_the_longest_question_is_answered(q):
    CatalogEntryFactory(offers=["a2a.skill"])

    assert total(q) == 0
    assert set(search.kind_counts(q).values()) == {0}

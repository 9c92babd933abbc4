"""The trigram index under the search rows, as each database has it."""

from django.db import migrations

from catalog.search.trigrams import create_text_index


def create(apps, schema_editor):
    create_text_index(schema_editor.connection)


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for statement in (
            "DROP TRIGGER IF EXISTS search_rows_insert",
            "DROP TRIGGER IF EXISTS search_rows_delete",
            "DROP TRIGGER IF EXISTS search_rows_update",
            "DROP TABLE IF EXISTS search_fts",
        ):
            schema_editor.execute(statement)
    else:
        schema_editor.execute("DROP INDEX IF EXISTS search_rows_trigrams")


class Migration(migrations.Migration):
    dependencies = [("catalog", "0002_search_rows")]

    operations = [migrations.RunPython(create, drop)]

"""The trigram index under the search rows, as each database has it."""

from django.db import migrations

from catalog.search.fts import create_text_index, drop_text_index


def create(apps, schema_editor):
    create_text_index(schema_editor.connection)


def drop(apps, schema_editor):
    drop_text_index(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("catalog", "0002_search_rows")]

    operations = [migrations.RunPython(create, drop)]

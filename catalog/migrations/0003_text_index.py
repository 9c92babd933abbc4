"""The trigram index under the search rows, as each database has it."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from catalog.search.fts import create_text_index, drop_text_index


def create(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    create_text_index(schema_editor.connection)


def drop(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    drop_text_index(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("catalog", "0002_search_rows")]

    operations = [migrations.RunPython(create, drop)]

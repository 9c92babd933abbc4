"""Copy when each peer greeted out of the column that `catalog` used for it.

The column stays, unused, so that this can be reversed. A later migration of `catalog`
may make SQLite write the table anew, without it: then there is nothing to copy, and
peers greet again within a minute.
"""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

COPY = """
INSERT INTO agh_greetings (entry_id, greeted_at)
SELECT id, greeted_at FROM catalog_entries WHERE greeted_at IS NOT NULL
"""
COPY_BACK = """
UPDATE catalog_entries SET greeted_at = (
    SELECT greeted_at FROM agh_greetings WHERE agh_greetings.entry_id = id
)
"""


def copy(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    run_if_column_exists(schema_editor.connection, COPY)


def copy_back(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    run_if_column_exists(schema_editor.connection, COPY_BACK)


def run_if_column_exists(connection: BaseDatabaseWrapper, statement: str) -> None:
    with connection.cursor() as cursor:
        described = connection.introspection.get_table_description
        columns = {column.name for column in described(cursor, "catalog_entries")}
        if "greeted_at" in columns:
            cursor.execute(statement)


class Migration(migrations.Migration):

    dependencies = [
        ("agh", "0002_greetings"),
    ]

    operations = [
        migrations.RunPython(copy, copy_back),
    ]

"""Copy when each peer greeted out of the column that `catalog` used for it.

The column stays, unused, so that this can be reversed. A migration of `catalog` that
makes SQLite write the table anew drops it: such a one must come after this.
"""

from django.db import migrations

COPY = """
INSERT INTO agh_greetings (entry_id, greeted_at)
SELECT id, greeted_at FROM catalog_entries WHERE greeted_at IS NOT NULL
"""
COPY_BACK = """
UPDATE catalog_entries SET greeted_at = (
    SELECT greeted_at FROM agh_greetings WHERE agh_greetings.entry_id = id
)
"""


class Migration(migrations.Migration):

    dependencies = [
        ("agh", "0002_greetings"),
    ]

    operations = [
        migrations.RunSQL(COPY, reverse_sql=COPY_BACK),
    ]

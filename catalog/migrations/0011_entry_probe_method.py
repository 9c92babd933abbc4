from django.db import migrations, models

# Not AddField: on SQLite that rebuilds the table and drops the column `greeted_at`, whose
# data an app may still have to copy.
ADD_COLUMN = """
ALTER TABLE catalog_entries ADD COLUMN probe_method varchar(50) NOT NULL DEFAULT ''
"""
DROP_COLUMN = "ALTER TABLE catalog_entries DROP COLUMN probe_method"


class Migration(migrations.Migration):
    dependencies = [("catalog", "0010_uptime_by_time")]

    operations = [
        migrations.RunSQL(
            ADD_COLUMN,
            DROP_COLUMN,
            state_operations=[
                migrations.AddField(
                    model_name="catalogentry",
                    name="probe_method",
                    field=models.CharField(
                        blank=True, default="", editable=False, max_length=50
                    ),
                ),
            ],
        ),
    ]

"""AGH's table and column belong to `catalog.integrations.agh` from now on.

State only: the table stays where it is, for its new app, and the column for the data
migration there. No row is touched.
"""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ("catalog", "0007_read_with_authorization"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.DeleteModel(name="SeenEnvelope"),
                migrations.RemoveField(model_name="catalogentry", name="greeted_at"),
            ],
        ),
    ]

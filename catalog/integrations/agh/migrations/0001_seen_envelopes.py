"""Take over the table that `catalog` made; state only."""

from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ("catalog", "0008_leave_agh_to_its_app"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="SeenEnvelope",
                    fields=[
                        (
                            "key",
                            models.CharField(
                                max_length=64, primary_key=True, serialize=False
                            ),
                        ),
                        ("until", models.DateTimeField(db_index=True)),
                    ],
                    options={"db_table": "seen_envelopes"},
                ),
            ],
        ),
    ]

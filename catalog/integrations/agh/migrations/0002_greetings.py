import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("agh", "0001_seen_envelopes"),
    ]

    operations = [
        migrations.CreateModel(
            name="Greeting",
            fields=[
                (
                    "entry",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="greeting",
                        serialize=False,
                        to="catalog.catalogentry",
                    ),
                ),
                ("greeted_at", models.DateTimeField()),
            ],
            options={"db_table": "agh_greetings"},
        ),
    ]

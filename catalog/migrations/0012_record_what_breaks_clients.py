from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalog", "0011_entry_probe_method")]

    operations = [
        migrations.AddField(
            model_name="definitionchange",
            name="breaking",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="definitionchange",
            name="breaking_count",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="definitionchange",
            name="breaking_reasons",
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name="definitionchange",
            name="fields",
            field=models.JSONField(default=list),
        ),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalog", "0009_rename_asked_at")]

    operations = [
        migrations.AddField(
            model_name="catalogentry",
            name="outcome_counts_until",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="healthhour",
            name="down_seconds",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="healthhour",
            name="up_seconds",
            field=models.FloatField(null=True),
        ),
    ]

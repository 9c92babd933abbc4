from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("catalog", "0008_leave_agh_to_its_app")]

    operations = [
        migrations.RenameField("catalogentry", "asked_at", "probe_requested_at"),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('routing', '0001_registrations'),
    ]

    operations = [
        migrations.RenameField(
            model_name='capabilityregistration',
            old_name='intent',
            new_name='desired_state',
        ),
        migrations.AlterField(
            model_name='capabilityregistration',
            name='desired_state',
            field=models.CharField(choices=[('active', 'Active'), ('inactive', 'Inactive'), ('draining', 'Draining')], default='active', max_length=20, verbose_name='status'),
        ),
    ]

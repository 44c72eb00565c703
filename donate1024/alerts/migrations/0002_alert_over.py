from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("alerts", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="alert",
            name="over",
            field=models.TextField(blank=True, default=""),
            preserve_default=False,
        ),
    ]

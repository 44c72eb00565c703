"""Fill a new sandbox: the sample fundraisers, the schedule switched on, a curator who may log in."""

import os

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from delivery import locks
from delivery.models import DailySchedule
from posts import clock
from posts.models import Fundraiser

SAMPLES = settings.BASE_DIR / "posts" / "samples" / "fundraisers.json"


class Command(BaseCommand):
    help = "Load the samples and switch the schedule on. Harmless when repeated; refused outside the sandbox."

    def handle(self, **_options: object) -> None:
        if not settings.SANDBOX:
            raise CommandError("this is a real installation: samples would go to real people")
        if not Fundraiser.objects.exists():
            locks.look(at=clock.now())  # no real bot may ever send from this database
            call_command("import_fundraisers", SAMPLES, approve=True, stdout=self.stdout)
            DailySchedule.load()
            DailySchedule.objects.update(is_enabled=True, effective_from=clock.now())
        if password := os.environ.get("CURATOR_PASSWORD"):
            curator, _ = User.objects.get_or_create(
                username="curator", defaults={"is_staff": True, "is_superuser": True}
            )
            curator.set_password(password)
            curator.save()

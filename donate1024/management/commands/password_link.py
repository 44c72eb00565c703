"""The first password's address, for whoever is at the terminal."""

import os

from django.conf import settings
from django.core.management.base import BaseCommand

from donate1024 import first_password
from donate1024.stack.environment import PORTS


class Command(BaseCommand):
    help = "Prints a one-time address at which the first superuser chooses a password; nothing where one has."

    def handle(self, **_: object) -> None:
        site = settings.SITE_URL.rstrip("/") or f"http://127.0.0.1:{os.environ.get('WEB_PORT', PORTS['WEB_PORT'])}"
        if path := first_password.new_path():
            self.stdout.write(f"{site}{path}")
        else:
            self.stderr.write("A superuser has a password already. Another one: `manage.py changepassword NAME`.")

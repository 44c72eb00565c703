"""Writes subscribers to a CSV file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from subscribers.transfer import export_subscribers


class Command(BaseCommand):
    help = "Writes all subscribers, those who left too, to a CSV file that import_subscribers reads."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            count = export_subscribers(file)
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}") from None
        self.stdout.write(f"Subscribers written: {count}.")

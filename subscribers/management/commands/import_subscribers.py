"""Reads subscribers from a CSV file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from posts import clock
from subscribers.csv_rows import Unreadable
from subscribers.transfer import import_subscribers


class Command(BaseCommand):
    help = "Adds the subscribers of a CSV file; sends nothing, and brings back nobody who left. Bad lines are listed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            type=Path,
            help="a header, then lines: chat_id, and if you like username, first_name, language, joined_at, left_at",
        )

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            imported = import_subscribers(file.read_bytes(), at=clock.now())
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}") from None
        except Unreadable as error:
            raise CommandError(f"{file}: {error}") from None
        for bad in imported.bad:
            self.stderr.write(f"line {bad.number}: {bad.reason}")
        self.stdout.write(
            f"Subscribers: {imported.added} added, {imported.known} known already, {imported.repeated} repeated in "
            f"the file, {len(imported.bad)} bad lines. Every good line was imported, no bad one was."
        )

"""Reads fundraisers from a JSON file."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, no_translations

from posts.importing import Refused, import_fundraisers


class Command(BaseCommand):
    help = "Store the fundraisers of a JSON list; all of them, or none and every fault listed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the list; photos are paths beside it")
        parser.add_argument("--approve", action="store_true", help="approve what is a draft")

    @no_translations  # the faults, which the admin shows too, stay in the terminal's language
    def handle(self, *args: Any, file: Path, approve: bool, **options: Any) -> None:
        try:
            imported = import_fundraisers(_read(file), folder=file.parent, approve=approve)
        except Refused as refusal:
            for fault in refusal.faults:
                self.stderr.write(f"entry {fault.entry}, {fault.key or 'as a whole'}: {fault.reason}")
            raise CommandError(f"Nothing was imported. Faults: {len(refusal.faults)}.") from None
        self.stdout.write(f"Fundraisers imported: {imported.created} new, {imported.updated} updated.")


def _read(file: Path) -> list[Any]:
    try:
        entries = json.loads(file.read_text("utf-8-sig"))
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{file} is no JSON file: {error}") from None
    if not isinstance(entries, list):
        raise CommandError(f"{file} holds no list of fundraisers.")
    return entries

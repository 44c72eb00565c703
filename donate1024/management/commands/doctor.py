"""Says of every part whether it is well, and what to mend."""

import os
import sys

from django.core.management.base import BaseCommand, no_translations
from rich.console import Console
from rich.table import Table
from rich.text import Text

from donate1024.doctor.checks import CHAINS
from donate1024.doctor.examining import Finding, examine

WITHIN = 10.0  # seconds
COLOURS = {"ok": "green", "mend": "bold red", "off": "yellow"}


class Command(BaseCommand):
    help = "Looks at settings, servers and services, and says in a line each what to mend. Exit code 1 on a fault."
    requires_system_checks = ()

    @no_translations
    def handle(self, *args: object, **options: object) -> None:
        if self.stdout.isatty():
            console = Console(highlight=False)
            with console.status(f"Looking at everything: {WITHIN:.0f} s at most"):
                findings = examine(CHAINS, within=WITHIN)
            draw(findings, on=console)
        else:
            findings = examine(CHAINS, within=WITHIN)
            for found in findings:
                self.stdout.write(f"{found.name:<16} {found.state}: {found.text}")
        _end(findings)


def draw(findings: list[Finding], *, on: Console) -> None:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for found in findings:
        table.add_row(found.name, Text.assemble((found.state, COLOURS[found.state]), f": {found.text}"))
    on.print(table)


def _end(findings: list[Finding]) -> None:
    if any(found.is_hung for found in findings):
        sys.stdout.flush()
        os._exit(1)  # Python would wait for its threads that ask a name server which does not answer
    if any(found.state == "mend" for found in findings):
        sys.exit(1)

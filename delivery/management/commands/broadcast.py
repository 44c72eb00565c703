"""Start, stop and look at a day's broadcast from the command line."""

import argparse
import sys
from datetime import date
from json import dumps
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError, CommandParser, no_translations
from rich.console import Console

from delivery import acting, locks, planning
from delivery.books import books_of
from delivery.books_on_screen import draw
from delivery.desk import Act
from delivery.history import COMMAND_LINE as BY
from delivery.models import SendingLock
from delivery.refusals import CannotChange, CannotPlan
from posts import clock, showing


class Command(BaseCommand):
    help = "Start, pause, mend, resume, cancel, skip or show the broadcast of a day; unlock sending."

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(
            dest="act", required=True, metavar="start|pause|refreeze|resume|cancel|skip|unskip|unlock|status"
        )
        start = acts.add_parser("start", help="plan today's broadcast, as the schedule would")
        start.add_argument("--fundraiser", type=int, metavar="ID", help="this one, instead of the one whose turn it is")
        start.add_argument("--now", action="store_true", help="whatever the hour, the quiet hour and the schedule say")
        acts.add_parser("pause", help="write to nobody until it is resumed")
        acts.add_parser("refreeze", help="take the mended fundraiser's text, while nobody has got the old one")
        acts.add_parser("resume", help="go on with a paused broadcast, until midnight at the latest")
        acts.add_parser("cancel", help="stop today's broadcast for good; what was sent stays sent")
        skip = acts.add_parser("skip", help="take a date, so that nothing is sent on it")
        skip.add_argument("--date", type=_date, required=True, metavar="YYYY-MM-DD")
        skip.add_argument("--reason", required=True, help="what the others will read")
        unskip = acts.add_parser("unskip", help="give a skipped date back")
        unskip.add_argument("--date", type=_date, required=True, metavar="YYYY-MM-DD")
        acts.add_parser("unlock", help="this bot and this database are the right ones, and the only ones")
        status = acts.add_parser("status", help="show the books; exit code 1 where the day has no broadcast")
        status.add_argument("--date", type=_date, metavar="YYYY-MM-DD", help="another day than today")
        status.add_argument("--json", action="store_true", help="for programs")

    @no_translations
    def handle(self, *, act: str, **options: Any) -> None:
        try:
            match act:
                case "start":
                    self._start(**options)
                case "status":
                    self._status(**options)
                case _:
                    self._do(Act(act), **options)
        except (CannotPlan, CannotChange, showing.NothingToShow) as error:
            raise CommandError(str(error)) from error

    def _start(self, *, fundraiser: int | None, now: bool, **_: object) -> None:
        broadcast = planning.start_broadcast(at=clock.now(), by=BY, fundraiser_id=fundraiser, now=now)
        recipients = broadcast.deliveries.count()
        self.stdout.write(f"Planned for {broadcast.date}: «{broadcast.fundraiser}» to {recipients} recipients.")

    def _do(self, act: Act, *, date: date | None = None, reason: str = "", **_: object) -> None:
        """What the desk does too, in its words."""
        now = clock.now()
        self.stdout.write(acting.do(act, day=date or clock.local_date(now), by=BY, at=now, reason=reason))

    def _status(self, *, date: date | None, json: bool, **_: object) -> None:
        day = date or clock.local_date(clock.now())
        if (lock := SendingLock.load()).is_locked:
            self.stderr.write(locks.in_full(lock))
        books = books_of(day)
        if books is None:
            self.stderr.write(f"No broadcast on {day}.")
            sys.exit(1)
        if json:
            self.stdout.write(dumps(books))
        else:
            draw(books, on=self._console())

    def _console(self) -> Console:
        """The terminal's own width and colours; where a caller asked for the output, plain text for it."""
        return Console() if self.stdout.isatty() else Console(file=cast("IO[str]", self.stdout), width=100)


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date such as 2026-11-30") from None

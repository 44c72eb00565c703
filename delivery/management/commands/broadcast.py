"""Start, stop and look at a day's broadcast from the command line."""

import argparse
import json
import sys
from datetime import date
from typing import IO, cast

from django.core.management.base import BaseCommand, CommandError, CommandParser, no_translations
from rich.console import Console

from delivery import control, planning
from delivery.books import books_of
from delivery.books_on_screen import draw
from delivery.models import Broadcast
from posts import clock, showing


class Command(BaseCommand):
    help = "Start, pause, resume, cancel, skip or show the broadcast of a day."

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True, metavar="start|pause|resume|cancel|skip|status")
        start = acts.add_parser("start", help="plan today's broadcast, as the schedule would")
        start.add_argument("--fundraiser", type=int, metavar="ID", help="this one, instead of the one whose turn it is")
        start.add_argument("--now", action="store_true", help="whatever the hour, the quiet hour and the schedule say")
        acts.add_parser("pause", help="write to nobody until it is resumed")
        acts.add_parser("resume", help="go on with a paused broadcast, until midnight at the latest")
        acts.add_parser("cancel", help="stop today's broadcast for good; what was sent stays sent")
        skip = acts.add_parser("skip", help="take a date, so that nothing is sent on it")
        skip.add_argument("--date", type=_date, required=True, metavar="YYYY-MM-DD")
        skip.add_argument("--reason", required=True, help="what the others will read")
        status = acts.add_parser("status", help="show the books; exit code 1 where the day has no broadcast")
        status.add_argument("--date", type=_date, metavar="YYYY-MM-DD", help="another day than today")
        status.add_argument("--json", action="store_true", help="for programs")

    @no_translations  # the refusals, which the admin shows too, stay in the terminal's language
    def handle(self, **options: object) -> None:
        act = getattr(self, f"_{options['act']}")
        try:
            act(options)
        except (planning.CannotPlan, control.CannotChange, showing.NothingToShow) as error:
            raise CommandError(str(error)) from error

    def _start(self, options: dict[str, object]) -> None:
        fundraiser_id = options["fundraiser"]
        assert fundraiser_id is None or isinstance(fundraiser_id, int)  # noqa: S101 -- argparse's type
        broadcast = planning.start_broadcast(at=clock.now(), fundraiser_id=fundraiser_id, now=bool(options["now"]))
        recipients = broadcast.deliveries.count()
        self.stdout.write(f"Planned for {broadcast.date}: «{broadcast.fundraiser}» to {recipients} recipients.")

    def _pause(self, _options: dict[str, object]) -> None:
        control.pause(_todays())
        self.stdout.write("Paused: nobody is written to until `broadcast resume`.")

    def _resume(self, _options: dict[str, object]) -> None:
        control.resume(_todays(), at=clock.now())
        self.stdout.write("Resumed: first one message, then the rest, until midnight at the latest.")

    def _cancel(self, _options: dict[str, object]) -> None:
        control.cancel(_todays())
        self.stdout.write("Cancelled for good. What was sent stays sent.")

    def _skip(self, options: dict[str, object]) -> None:
        day, reason = options["date"], options["reason"]
        assert isinstance(day, date)  # noqa: S101 -- argparse's type
        control.skip(day, reason=str(reason), at=clock.now())
        self.stdout.write(f"Nothing is sent on {day}: {reason}")

    def _status(self, options: dict[str, object]) -> None:
        day = options["date"] or clock.local_date(clock.now())
        assert isinstance(day, date)  # noqa: S101 -- argparse's type
        books = books_of(day)
        if options["json"] and books:
            self.stdout.write(json.dumps(books))
        elif books:
            draw(books, on=self._console())
        else:
            self.stderr.write(f"No broadcast on {day}.")
            sys.exit(1)

    def _console(self) -> Console:
        """The terminal's own width and colours; where a caller asked for the output, plain text for it."""
        return Console() if self.stdout.isatty() else Console(file=cast("IO[str]", self.stdout), width=100)


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date such as 2026-11-30") from None


def _todays() -> Broadcast:
    day = clock.local_date(clock.now())
    broadcast = Broadcast.objects.filter(date=day).first()
    if broadcast is None:
        raise control.CannotChange(f"no broadcast on {day}")
    return broadcast

"""Day after day on one installation, and the report."""

import json
import time
from collections import Counter
from datetime import date, datetime, time as hour_of_day, timedelta
from random import Random

from rich.console import Console

from tests.chaos import report
from tests.chaos.day import Day
from tests.chaos.drawing import FIRST_GROUP, FIRST_PERSON, GROUPS, DayPlan, draw_day, draw_population
from tests.chaos.installation import ADMIN_CHAT, EACH_SECOND, Installation
from tests.chaos.journal import Journal, Story
from tests.chaos.machine_clock import ZONE, moment
from tests.chaos.promises import Facts
from tests.chaos.scene import Scene

DEATHS_BEFORE_RESTART = 3  # of one part: the supervisor's pauses double with each
LATEST_AFTER, TIME_TO_BEGIN = timedelta(minutes=120), timedelta(minutes=5)
QUIET = hour_of_day(22)
SET_HOUR = (
    "from datetime import time; from delivery.models import DailySchedule as D; "
    "row = D.load(); row.send_at = time.fromisoformat('{}'); row.save()"
)
JAR = "https://send.monobank.ua/jar/PLAIN"


class Run:
    """Everything that outlives a day."""

    def __init__(self, seed: int, console: Console) -> None:
        self.seed, self.console = seed, console
        first = date(2027, 1, 1) + timedelta(days=Random(f"date {seed}").randrange(365))  # noqa: S311
        self.there = Installation(starts=moment(first, hour_of_day(20)))
        self.journal = Journal(self.there.state / "sandbox" / "ledger.jsonl")
        self.story = Story()
        self.send_at = hour_of_day(8)
        self.last = first
        self.totals: Counter[str] = Counter()
        self._populate()

    def _populate(self) -> None:
        people = [FIRST_PERSON + place for place in range(draw_population(self.seed))]
        groups = [FIRST_GROUP - place for place in range(GROUPS)]
        self.there.ask(
            "POST", "chats", [{"chat_id": chat, "first_name": f"Оля {chat}"} for chat in [*people, ADMIN_CHAT]]
        )
        self.there.ask("POST", "chats", [{"chat_id": chat, "type": "group", "first_name": "Гурт"} for chat in groups])
        imported = self.there.state / "people.csv"
        imported.write_text("chat_id\n" + "".join(f"{chat}\n" for chat in people + groups))
        plain = [{"title": f"Збір {it}", "text": "Без світлини.", "url": f"{JAR}{it}"} for it in range(1, 6)]
        (self.there.state / "plain.json").write_text(json.dumps(plain))
        for command in (
            ("prepare_sandbox",),
            ("import_fundraisers", str(self.there.state / "plain.json"), "--approve"),
            ("import_subscribers", str(imported)),
        ):
            self.there.insist(*command)
        self.there.rows_at_last(EACH_SECOND)
        for chat in people + groups:
            self.story.of(chat).wants = True
        for event in self.journal.news():
            self.story.take(event)

    def day(self, number: int) -> bool:
        """Live through the day; False if it broke a promise."""
        plan, began = draw_day(self.seed, number), time.monotonic()
        self.console.print(str(plan), style="dim", highlight=False, markup=False)
        if max(self.there.deaths.values(), default=0) >= DEATHS_BEFORE_RESTART:
            self.there.stop()
            self.there.start()
        facts = self._facts(plan)
        if plan.send_at:
            self.there.insist("shell", "-c", SET_HOUR.format(self.send_at))
        day = Day(Scene(self.there, plan, facts), self.journal, self.story, [])
        day.run()
        self.totals += report.count(day)
        report.print_day(self.console, day, hour=self.send_at, seconds=time.monotonic() - began)
        if day.case:
            self.story = day.case.after
        return not day.broken

    def _facts(self, plan: DayPlan) -> Facts:
        """Where the day lies: the next morning, or a later one."""
        self.send_at = plan.send_at or self.send_at
        day = self.there.clock.local().date()
        while day <= self.last or moment(day, self.send_at) < self.there.clock.now() + 5:
            day += timedelta(days=1)
        day += timedelta(days=plan.days_ahead)
        while plan.to_clock_change and not _clock_changes_on(day):
            day += timedelta(days=1)
        self.last = day
        send_at, quiet = moment(day, self.send_at), moment(day, QUIET)
        midnight = moment(day + timedelta(days=1), hour_of_day(0))
        latest = send_at + (LATEST_AFTER + TIME_TO_BEGIN).total_seconds()
        return Facts(day, send_at, latest, quiet=quiet, midnight=midnight, ends=quiet)


def _clock_changes_on(day: date) -> bool:
    before, after = (datetime.combine(day, hour_of_day(hour), ZONE).utcoffset() for hour in (0, 12))
    return before != after

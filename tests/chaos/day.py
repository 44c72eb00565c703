"""One day: its morning, its faults, the sensible person who puts things right, and the judge."""

import json
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.chaos import curator, machine, people, restoring, telegram
from tests.chaos.drawing import EVERYBODY_GONE, MACHINE, PEOPLE, TELEGRAM, Act
from tests.chaos.installation import Stuck, wait_until
from tests.chaos.journal import Journal, Json, Story, post_of
from tests.chaos.promises import Broken, Case, Row, broken_promises
from tests.chaos.scene import Scene

SLOT, SENDING_TIMEOUT = 41.0, 181.0  # after so long a killed slice's slot is free; a call's outcome is unknown
BROADCAST = "SELECT status, reason, hold_until FROM delivery_broadcast WHERE date = %s"
DELIVERIES = """
    FROM delivery_delivery AS delivery JOIN delivery_broadcast AS broadcast ON broadcast.id = broadcast_id
    JOIN subscribers_subscriber AS subscriber ON subscriber.id = subscriber_id WHERE date = %s
"""
COUNTS = f"SELECT delivery.status, count(*) {DELIVERIES} GROUP BY 1"
ROWS = f"SELECT chat_id, delivery.status, delivery.reason, message_id {DELIVERIES}"
UNHANDLED = "SELECT count(*) FROM subscribers_inboxupdate WHERE handled_at IS NULL"
WAITS_FOR_A_PERSON = {"quiet hour", "not begun in its window", "its hour went by"}
TURNS = {"quiet hour in mid-run", "midnight in mid-run"}
SWITCH = "from delivery.models import DailySchedule as D; row = D.load(); row.is_enabled = {}; row.save()"
WITHIN = 90.0  # seconds from the end of the faults to the end of the broadcast
FEW = 5  # posts, after which a run has begun
CALM = 2.0  # seconds without news, after which the clock is moved on


@dataclass
class Day:
    """A scene with its journal, and what is known of the broadcast."""

    scene: Scene
    journal: Journal
    before: Story  # when the day began
    events: list[Json]

    def __post_init__(self) -> None:
        self.there, self.plan, self.facts = self.scene.there, self.scene.plan, self.scene.facts
        self.clock = self.there.clock
        self.broken: list[Broken] = []
        self.case: Case | None = None
        self.seconds: list[float] = []  # that each part of the day took

    def run(self) -> None:
        """Live through it; `broken` then holds the promises that it broke."""
        try:
            for part in (self._morning, self._faults, self._put_right, self._judge_at_last):
                began = time.monotonic()
                part()
                self.seconds.append(time.monotonic() - began)
        except Stuck as stuck:
            self.broken.append(Broken(str(stuck)))
        finally:
            self.scene.wait_for_thaw()
            self.scene.end_extras()
        if self.plan.kind == "switched off":
            self.there.insist("shell", "-c", SWITCH.format(True))

    # The morning

    def _morning(self) -> None:
        kind, facts, clock = self.plan.kind, self.facts, self.clock
        if self.plan.to_clock_change:
            clock.move_to(facts.send_at - 9 * 3600)
        clock.move_to(facts.send_at - 60)
        if kind == "day off":
            self.there.insist("broadcast", "skip", "--date", str(facts.date), "--reason", "свято")
        if kind == "switched off":
            self.there.insist("shell", "-c", SWITCH.format(False))
        for act in self.plan.morning:
            self._perform(act)
        if kind == "restored in mid-run":
            wait_until(lambda: not self._is_bot_busy(), what="the bot to know of everybody")
        self.there.hurry_beat()
        if "asleep" in kind:
            self.scene.freeze(self.scene.pids("beat"), seconds=1.0, jump=0.0)
            clock.move_to(facts.send_at + 1800 if "within" in kind else facts.latest_start + 60)
            self.scene.wait_for_thaw()
        clock.move_to(facts.send_at - 0.5)
        if kind == "switched off":
            time.sleep(2)  # nothing must come
        else:
            wait_until(self._is_planned, what=f"the row of {facts.date}", seconds=60, pause=0.1)

    def _is_planned(self) -> bool:
        self.there.hurry_beat()
        return bool(self.there.rows(BROADCAST, self.facts.date))

    # The faults

    def _faults(self) -> None:
        if self.plan.kind == "restored in mid-run":
            self._restore_backup()
        began, acts, has_turned = time.monotonic(), list(self.plan.acts), self.plan.kind not in TURNS
        while acts or not has_turned:
            passed = time.monotonic() - began
            if not has_turned and passed >= self.plan.turn_at:
                has_turned = True
                is_midnight = self.plan.kind == "midnight in mid-run"
                self.facts.may_end_early |= is_midnight
                self.clock.move_to((self.facts.midnight if is_midnight else self.facts.quiet) + 0.2)
            if acts and passed >= acts[0].at:
                self._perform(acts.pop(0))
            if not acts:
                self._end_hold()
            time.sleep(0.05)
        if self.plan.kind == "the wrong bot":  # a few who are gone are only a few who are gone
            wait_until(lambda: self._broadcast()[0] == "paused", what="too many chats that are gone to be noticed")

    def _restore_backup(self) -> None:
        """Put a backup of the run's beginning in its place, see it lock itself, and skip the rest of the day."""
        wait_until(lambda: self._count_posts() >= FEW, what="the run to begin")
        with self.scene.losing_what_is_in_flight():
            restoring.back_up(self.there)
        time.sleep(self.plan.turn_at)
        restoring.restore(self.there)
        self.facts.silent_from, self.facts.may_end_early = self.clock.now(), True
        self.clock.move(SENDING_TIMEOUT)
        restoring.wait_for_lock(self.there)
        time.sleep(CALM)  # long enough for many to go out, if it let them
        self.there.insist("broadcast", "cancel", unless="already")  # the run may have been over at the backup
        self.there.insist("broadcast", "unlock")

    def _count_posts(self) -> int:
        self._read_news()
        return sum(post_of(event) is not None for event in self.events)

    def _perform(self, act: Act) -> None:
        if act.name in MACHINE:
            machine.ACTS[act.name](self.scene, act)
        elif act.name in TELEGRAM or act.name == EVERYBODY_GONE:
            telegram.strike(self.scene, act)
        elif act.name in PEOPLE:
            people.act_out(self.scene, act)
        else:
            curator.ACTS[act.name](self.scene, act)

    # The sensible person

    def _put_right(self) -> None:
        """Mend what is broken, resume what waits, let the clock go on, until the broadcast is at its end."""
        self.scene.wait_for_thaw()
        self.there.ask("DELETE", "faults")
        wait_until(lambda: not self.there.family.missing(), what=f"{self.there.family.missing()} to come back")
        end, news, news_at = time.monotonic() + WITHIN, Counter[str](), time.monotonic()
        while not self._has_ended():
            self.there.hurry_beat()
            self._decide()
            self._end_hold()
            if (latest := Counter(dict(self.there.rows(COUNTS, self.facts.date) or []))) != news:
                news, news_at = latest, time.monotonic()
            elif time.monotonic() - news_at > CALM:
                self.clock.move(SENDING_TIMEOUT if news["sending"] else SLOT)
                news_at = time.monotonic()
            if time.monotonic() > end:
                raise Stuck(f"the broadcast of {self.facts.date} does not end: {self._broadcast()}, {dict(news)}")
            time.sleep(0.1)
        self.scene.end_extras()

    def _broadcast(self) -> tuple[str, str, datetime | None]:
        found = self.there.rows_at_last(BROADCAST, self.facts.date)
        return found[0] if found else ("", "", None)

    def _decide(self) -> None:
        """Do what waits for a person, unless this one gives up."""
        status, reason, _ = self._broadcast()
        if self._waits(status, reason) and self.plan.gives_up:
            self.facts.may_end_early = True
        elif status == "paused" and self.clock.now() < self.facts.midnight:
            self.scene.act_by_hand()
            self.there.insist("broadcast", "resume", unless="only a paused broadcast")
        elif self._waits(status, reason) and status != "paused":
            self.scene.act_by_hand()
            self.there.insist("broadcast", "start", "--now", unless="exists already")

    def _waits(self, status: str, reason: str) -> bool:
        return not status or reason in WAITS_FOR_A_PERSON

    def _end_hold(self) -> None:
        hold_until = (self.there.rows(BROADCAST, self.facts.date) or [("", "", None)])[0][2]
        if hold_until is not None and hold_until.timestamp() > self.clock.now() + 1:
            self.clock.move_to(hold_until.timestamp() + 0.1)

    def _has_ended(self) -> bool:
        status, reason, _ = self._broadcast()
        if self._waits(status, reason):
            if not self.facts.may_end_early:
                return False
        elif status not in {"finished", "cancelled", "expired", "skipped"}:
            return False
        open_rows = {"sending"} if status == "paused" else {"pending", "sending"}
        counts = dict(self.there.rows_at_last(COUNTS, self.facts.date))
        return not open_rows & counts.keys() and not self._is_bot_busy()

    def _is_bot_busy(self) -> bool:
        self._read_news()
        return self.journal.has_waiting_updates() or self.there.rows_at_last(UNHANDLED) != [(0,)]

    # The judge

    def _judge_at_last(self) -> None:
        """Judge until all is well: the sweep may still have to serve whoever came back in the last moment."""
        end = time.monotonic() + 30
        while self._judge() and time.monotonic() < end:
            self.there.hurry_beat()
            time.sleep(1)

    def _judge(self) -> list[Broken]:
        said = self.there.insist("broadcast", "status", "--json", "--date", str(self.facts.date), unless="No broadcast")
        rows = [Row(*row) for row in self.there.rows_at_last(ROWS, self.facts.date)]
        self._read_news()
        self.facts.seen_at = self.clock.now()
        self.facts.may_end_early |= self.plan.kind == "day off"
        books: dict[str, Any] | None = None
        with suppress(ValueError):
            books = json.loads(said)
        self.case = Case(self.facts, self.before, self.events, rows, books, self.clock.real)
        self.broken = broken_promises(self.case)
        return self.broken

    def _read_news(self) -> None:
        self.events += self.journal.news()

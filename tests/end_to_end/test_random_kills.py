"""Anything of `make run` killed, stopped, frozen at random in mid-run: nobody twice, nobody forgotten."""

import json
import logging
import os
import random
import signal
from collections import Counter
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import Any, LiteralString

import psycopg
import pytest

from donate1024.stack import environment, sandbox_control
from tests.donate1024.stack.running import Run
from tests.end_to_end.killing import frozen

logger = logging.getLogger(__name__)

pytestmark = pytest.mark.end_to_end

CHILDREN = {
    "telegram": "telegram@",
    "default": "default@",
    "beat": " beat ",
    "bot": "run_bot",
    "postgres": "/postgres -D",
    "valkey": "valkey-server",
}
CREW = CHILDREN | {
    "web": "uvicorn",
    "flower": " flower ",
    "sandbox": "1024.sandbox",
}
SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP]
PER_SECOND = 5
IN_FLIGHT = 4  # at this rate, over all slices: see delivery/window.py
FIVE_MINUTES, SENDING_TIMEOUT = 300, 181  # seconds
# Every tick each second: a test need not wait. Beat writes its own minute again at each start.
HURRY = """
UPDATE django_celery_beat_intervalschedule SET every = 1;
INSERT INTO django_celery_beat_periodictasks (ident, last_update) VALUES (1, now())
ON CONFLICT (ident) DO UPDATE SET last_update = now();
"""


class Morning:
    """A broadcast to `count` people under a real supervisor, and what was done to it."""

    def __init__(self, run: Run, count: int, chance: random.Random) -> None:
        self.run = run
        self.chance = chance
        self.people = range(1001, 1001 + count)
        self.deck: list[tuple[str, signal.Signals]] = []
        self.struck: Counter[tuple[str, str]] = Counter()

    def begin(self) -> None:
        chats = [{"chat_id": chat, "first_name": f"Оля {chat}"} for chat in self.people]
        sandbox_control.add_chats(self.run.ports["SANDBOX_PORT"], chats)
        file = self.run.state / "people.csv"
        file.write_text("\n".join(["chat_id", *map(str, self.people)]))
        self.run.manage("import_subscribers", str(file))
        self.sql("ALTER SYSTEM SET max_connections = 20")  # from PostgreSQL's next start on
        self.pass_time(24 * 3600)  # today's broadcast, to nobody, is over
        self.run.manage("broadcast", "start", "--now")

    def strike(self) -> None:
        """Do something to somebody, if they are there; each thing to each of them once, before anything comes again."""
        if not self.deck:
            self.deck = [(name, number) for name in [*CHILDREN, "supervisor"] for number in SIGNALS]
            self.chance.shuffle(self.deck)
        name, number = self.deck.pop()
        found = [self.run.process.pid] if name == "supervisor" else self.run.children(CHILDREN[name])
        if not found:
            return
        logger.info("%s to %s", number.name, name)
        self.struck[name, number.name] += 1
        if number == signal.SIGSTOP:
            with frozen(found[0], with_children=name != "supervisor"):
                self.pass_time(FIVE_MINUTES)
                sleep(2)
        else:
            os.kill(found[0], number)
        if name == "supervisor" and number != signal.SIGSTOP:
            self.run.process.wait(90)
            self.run.start()

    def hurry(self) -> None:
        with suppress(psycopg.Error):  # away just now
            self.sql(HURRY)

    def sql(self, statement: LiteralString) -> int:
        """How many rows it gave or changed."""
        url = environment.database_url(self.run.state)
        with psycopg.connect(url, autocommit=True, connect_timeout=2) as database:
            return database.execute(statement).rowcount

    def pass_time(self, seconds: float) -> None:
        file = self.run.state / "clock-offset"
        new = file.with_suffix(".new")
        new.write_text(str(float(file.read_text()) + seconds))
        new.replace(file)

    def books(self) -> Any:
        return json.loads(self.run.manage("broadcast", "status", "--json"))

    def nothing_is_pending(self) -> bool:
        self.hurry()
        try:
            return not self.sql("SELECT FROM delivery_delivery WHERE status = 'pending' LIMIT 1")
        except psycopg.Error:
            return False


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(6, marks=pytest.mark.timeout(400)),
        pytest.param(30, marks=[pytest.mark.long, pytest.mark.timeout(1800)]),
    ],
)
def test_whatever_is_struck_at_random_nobody_gets_it_twice_and_nobody_is_forgotten(tmp_path: Path, kills: int) -> None:
    seed = int(os.environ.get("SEED") or 1024)
    logger.info("SEED=%s", seed)
    with Run(tmp_path / "state", TELEGRAM_MESSAGES_PER_SECOND=str(PER_SECOND)) as run:
        morning = Morning(run, kills * 25, random.Random(seed))  # noqa: S311 -- nothing to keep secret
        morning.begin()

        while morning.struck.total() < kills:
            sleep(morning.chance.uniform(1, 6))
            morning.hurry()
            morning.strike()

        run.until(morning.nothing_is_pending, seconds=600)
        morning.pass_time(SENDING_TIMEOUT)
        run.until(lambda: morning.books()["status"] == "finished")
        judge(morning)
        run.until(lambda: sorted(crew(run)) == sorted(CREW), seconds=60)  # a killed supervisor's orphans have ended


def judge(morning: Morning) -> None:
    books = morning.books()
    counts = books["counts"]
    served = sandbox_control.messages_by_chat(morning.run.ports["SANDBOX_PORT"])
    logger.info("%s: %s", dict(morning.struck), counts)
    forgotten = set(morning.people) - served.keys()
    assert set(served.values()) == {1}
    assert len(forgotten) <= counts["unknown"]
    assert counts["sent"] + counts["unknown"] == books["recipients"] == len(morning.people)
    killed_senders = sum(morning.struck[name, "SIGKILL"] for name in ("telegram", "supervisor"))
    assert counts["unknown"] <= IN_FLIGHT * killed_senders


def crew(run: Run) -> list[str]:
    """Who works on the directory, orphans of a killed supervisor too; a worker's children count with it."""
    leaders = [command for process_id, command in run.everybody().items() if is_leader(process_id)]
    return [name for command in leaders for name, words in CREW.items() if words in command]


def is_leader(process_id: int) -> bool:
    try:
        return os.getsid(process_id) == process_id
    except ProcessLookupError:
        return False

"""A whole installation on the test's database: the sandbox, workers, beat, bot, each a real process."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from datetime import time
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Self

from django.db import InterfaceError, OperationalError, connection
from django_celery_beat.models import IntervalSchedule, PeriodicTask, PeriodicTasks

from delivery.books import Books, books_of
from delivery.models import DailySchedule, Delivery
from donate1024.stack import roles
from posts import clock
from subscribers.models import Subscriber
from tests.sandbox_process import SandboxProcess

ROOT = Path(__file__).resolve().parents[2]
CELERY = (sys.executable, *roles.CELERY)


class Process:
    """One process with its own group and its own log."""

    def __init__(self, name: str, command: Iterable[str], *, env: dict[str, str], log: Path) -> None:
        self.name = name
        self.log = log
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                [*command], cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
            )

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def written(self) -> str:
        return self.log.read_text(errors="replace") if self.log.is_file() else ""

    def wait_for(self, words: str, *, seconds: float = 30) -> Self:
        wait_until(lambda: words in self.written(), seconds=seconds, what=f"{self.name} to write {words!r}", log=self)
        return self

    def kill_group(self) -> None:
        """SIGKILL to the parent and to every child at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    def stop(self, *, seconds: float = 60) -> int:
        self.process.terminate()
        return self.process.wait(seconds)

    def end(self) -> None:
        if self.is_alive:
            self.kill_group()


class Installation:
    """Starts what a test asks for, and ends all of it with the test."""

    def __init__(self, folder: Path, *, rate: float | None = None) -> None:
        self.folder = folder
        self.sandbox = SandboxProcess(folder, rate)
        self.processes: list[Process] = []
        self.log: Path | None = None  # where all of them write, if not each into a file of its own
        self.env = os.environ | {
            "STATE_DIR": str(folder),
            "TELEGRAM_API_URL": self.sandbox.url,
            "DATABASE_URL": os.environ["DATABASE_URL"].rpartition("/")[0] + f"/{connection.settings_dict['NAME']}",
            "DJANGO_SETTINGS_MODULE": "donate1024.settings",
            "SUPPORT_CONTACT": "@support",
            "PYTHONUNBUFFERED": "1",
        }

    def close(self) -> None:
        for process in reversed(self.processes):
            process.end()
        self.sandbox.kill()

    # People

    def add_people(self, count: int, *, first: int = 1001) -> list[int]:
        """Subscribers of ours who have opened the bot's chat; returns their chat ids."""
        chats = list(range(first, first + count))
        self.sandbox.post("/control/chats", [{"chat_id": chat, "first_name": f"Оля {chat}"} for chat in chats])
        at = clock.now()
        Subscriber.objects.bulk_create(Subscriber(chat_id=chat, joined_at=at) for chat in chats)
        return chats

    def fault(self, fault: Any, **where: Any) -> None:
        self.sandbox.post("/control/faults", [{"fault": fault, **where}])

    def served(self) -> dict[int, int]:
        """How many posts each chat got, by the sandbox's own ledger: its `chat_id` -> its count."""
        counts: dict[int, int] = {}
        for call in self.sandbox.get("/control/ledger?method=sendPhoto,sendMessage"):
            if call["reply_markup"] and "send.monobank.ua" in str(call["reply_markup"]):  # a post, not a reply
                counts[call["chat_id"]] = counts.get(call["chat_id"], 0) + 1
        return counts

    # Processes

    def start(self, name: str, *command: str, **env: str) -> Process:
        log = self.log or self.folder / f"{len(self.processes)}-{name}.log"
        process = Process(name, command, env=self.env | env, log=log)
        self.processes.append(process)
        return process

    def worker(self, *queues: str, concurrency: int = 2, **env: str) -> Process:
        name = f"worker{len(self.processes)}"
        options = ["-Q", ",".join(queues or ["telegram", "default", "bluesky"]), "-c", str(concurrency), "-l", "info"]
        return self.start(name, *CELERY, "worker", *options, "-n", f"{name}-{os.getpid()}@%h", **env)

    def beat(self, *, tick_seconds: int = 1) -> Process:
        """Beat, whose ticks come each second instead of each minute, so that a test need not wait."""
        beat = self.start("beat", *CELERY, "beat", "-l", "info", "--pidfile=")
        beat.wait_for("The clocks of this host and of the database agree")  # it has written its own schedule by then
        self.hurry_beat(tick_seconds=tick_seconds)
        return beat

    def hurry_beat(self, *, tick_seconds: int = 1) -> None:
        often, _ = IntervalSchedule.objects.get_or_create(every=tick_seconds, period=IntervalSchedule.SECONDS)
        PeriodicTask.objects.filter(name__in=["plan", "sweep"]).update(interval=often)
        PeriodicTasks.update_changed()

    def bot(self) -> Process:
        return self.start("bot", sys.executable, "manage.py", "run_bot")

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(command, cwd=ROOT, env=self.env, capture_output=True, text=True, timeout=60, check=False)

    # Time and state

    def set_clock(self, *, hour: str = "08:00:05") -> None:
        """Set everybody's clock to today's hour in TIME_ZONE."""
        at = clock.now()
        due = clock.local_moment(clock.local_date(at), time.fromisoformat(hour))
        self.pass_time((due - at).total_seconds())

    def pass_time(self, seconds: float) -> None:
        """Move everybody's clock."""
        file = self.folder / "clock-offset"
        new = file.with_suffix(".new")
        new.write_text(str(clock.offset().total_seconds() + seconds))
        new.replace(file)

    def enable_schedule(self, **facts: Any) -> None:
        DailySchedule.load()
        midnight = clock.local_moment(clock.local_date(clock.now()), time(0))
        DailySchedule.objects.update(**{"is_enabled": True, "effective_from": midnight} | facts)

    def books(self) -> Books:
        books = books_of(clock.local_date(clock.now()))
        assert books is not None
        return books

    def wait_for_status(self, status: str, *, seconds: float = 60) -> Books:
        self.wait_until(lambda: self._status() == status, seconds=seconds, what=f"status {status}")
        return self.books()

    def wait_for_count(self, status: Delivery.Status, *, least: int = 1, seconds: float = 30) -> None:
        self.wait_until(
            lambda: Delivery.objects.filter(status=status).count() >= least, seconds=seconds, what=f"{least} {status}"
        )

    def wait_until(self, is_so: Callable[[], bool], *, what: str, seconds: float = 30) -> None:
        wait_until(is_so, seconds=seconds, what=what, log=self)

    def written(self) -> str:
        """The ends of all logs, for a test that waited in vain."""
        return "\n".join(f"--- {process.name}\n{process.written()[-3000:]}" for process in self.processes)

    def _status(self) -> str:
        books = books_of(clock.local_date(clock.now()))
        return books["status"] if books else ""


def wait_until(
    is_so: Callable[[], bool], *, seconds: float = 30, what: str, log: Process | Installation | None = None
) -> None:
    """Poll until it is so; a test that waits in vain shows what the processes wrote.

    A database that is away says only that it is not so yet.
    """
    end = monotonic() + seconds
    while not _is_so(is_so):
        if monotonic() > end:
            raise AssertionError(f"waited {seconds} s for {what}\n{log.written() if log else ''}")
        sleep(0.05)


def _is_so(is_so: Callable[[], bool]) -> bool:
    try:
        return is_so()
    except (OperationalError, InterfaceError):
        connection.close()
        return False

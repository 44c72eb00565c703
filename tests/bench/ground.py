"""Where the bench runs: throw-away servers that commit durably, the stand-in, real workers."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO, Any, Self
from urllib.request import Request, urlopen

import django
import redis
from django.core.management import call_command
from django.db import connection

from donate1024 import redis_urls
from donate1024.stack import environment, roles
from donate1024.stack.embedded import Postgres, Valkey
from tests.bench import tree

SENDERS = environment.SENDERS
CELERY = (sys.executable, *roles.CELERY)


class Stuck(Exception):
    """Something did not happen in a long time; the text says what."""


class Ground:
    def __enter__(self) -> Self:
        self.state = Path(tempfile.mkdtemp(prefix="donate1024-bench-"))
        with ExitStack() as stack:
            stack.callback(shutil.rmtree, self.state, ignore_errors=True)
            stack.callback(shutil.rmtree, environment.socket_dir(self.state), ignore_errors=True)
            self.postgres = stack.enter_context(Postgres(self.state))
            self.valkey = stack.enter_context(Valkey(self.state))
            self.postgres.create_database(environment.DATABASE)
            self.url = stack.enter_context(_standin(self.state))
            self._become()
            self._until_the_end = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        connection.close()
        self._until_the_end.close()

    def _become(self) -> None:
        """Let this process, and all that it starts, be of the installation."""
        for name in environment.NAMES | {"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"}:
            os.environ.pop(name, None)
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "tests.bench.settings",
            "DONATE1024_SANDBOX": "1",
            "DONATE1024_ENV_FILE": "",
            "STATE_DIR": str(self.state),
            "SECRET_KEY": secrets.token_urlsafe(50),
            "TELEGRAM_API_URL": self.url,
            "TELEGRAM_SENDERS": str(SENDERS),
            "DATABASE_URL": environment.database_url(self.state),
            "REDIS_URL": environment.redis_url(self.state),
        }
        django.setup()
        call_command("migrate", verbosity=0)

    # The stand-in

    def set_standin(self, *, latency: float, limit: int = 0) -> None:
        """A new judge, who knows nothing of what was."""
        self._post("set", {"latency": latency, "limit": limit})

    def press(self, people: int) -> None:
        self._post("press", people)

    def report(self) -> dict[str, Any]:
        with urlopen(f"{self.url}/report") as answer:  # noqa: S310 -- ours
            found: dict[str, Any] = json.load(answer)
        return found

    def _post(self, path: str, body: object) -> None:
        with urlopen(Request(f"{self.url}/{path}", json.dumps(body).encode())):  # noqa: S310 -- ours
            pass

    # Rows

    def populate(self, recipients: int) -> None:
        """So many subscribers, and nothing else of an earlier run."""
        with connection.cursor() as cursor:
            cursor.execute(
                "TRUNCATE delivery_delivery, delivery_broadcast, delivery_change, delivery_senderslot, "
                "subscribers_subscriber, subscribers_inboxupdate CASCADE"
            )
            cursor.execute(
                "INSERT INTO subscribers_subscriber (chat_id, username, first_name, language, joined_at, left_reason) "
                "SELECT 1000000 + number, '', 'Оля', 'uk', now() - interval '30 days', '' "
                "FROM generate_series(1, %s) AS number",
                [recipients],
            )
            cursor.execute("ANALYZE subscribers_subscriber")
            cursor.execute("CHECKPOINT")
        (self.state / "clock-offset").unlink(missing_ok=True)
        self.forget_pace()

    def forget_pace(self) -> None:
        with redis.Redis.from_url(redis_urls.database(os.environ["REDIS_URL"], after=1)) as client:
            client.flushdb()

    def plan(self) -> int:
        """Today's broadcast, as the tick would plan it; returns its id."""
        # Django reads the settings before its models.
        from delivery import planning  # noqa: PLC0415
        from delivery.models import DailySchedule  # noqa: PLC0415
        from posts import clock  # noqa: PLC0415
        from tests.factories import make_fundraiser  # noqa: PLC0415

        DailySchedule.load()  # planning takes its row as a lock
        make_fundraiser()  # each is shown once a day
        at = clock.now()
        return planning.plan_broadcast(day=clock.local_date(at), at=at, run_until=at + timedelta(days=1)).pk

    def pass_time(self, *, minutes: int) -> None:
        """Move everybody's clock."""
        (self.state / "clock-offset").write_text(str(60 * minutes))

    def sweep(self) -> None:
        from delivery import sweeping  # noqa: PLC0415
        from posts import clock  # noqa: PLC0415

        sweeping.sweep(at=clock.now())

    def statuses(self) -> dict[str, int]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT status, count(*) FROM delivery_delivery GROUP BY status")
            return dict(cursor.fetchall())

    def seconds_of_run(self) -> float:
        """From the first claim to the last recorded answer, by the ledger."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT extract(epoch FROM max(settled_at) - min(claimed_at))::float FROM delivery_delivery "
                "WHERE status = 'sent'"
            )
            (seconds,) = cursor.fetchone()
        return float(seconds or 0)

    # Processes

    @contextmanager
    def worker(self, *, rate: float) -> Iterator["Worker"]:
        """Our real worker, paced at `rate`; ready."""
        options = ("worker", "-Q", "telegram", "-c", str(SENDERS), "-l", "info", "-n", "bench@%h", *roles.ALONE)
        env = {"TELEGRAM_MESSAGES_PER_SECOND": str(rate)}
        with self.process("worker", *CELERY, *options, env=env) as worker:
            worker.wait_for(roles.READY)
            yield worker

    @contextmanager
    def bot(self) -> Iterator["Worker"]:
        with self.process("bot", sys.executable, "manage.py", "run_bot", env={}) as bot:
            bot.wait_for("The bot listens")
            yield bot

    @contextmanager
    def process(self, name: str, *command: str, env: dict[str, str]) -> Iterator["Worker"]:
        log = self.state / f"{name}-{time.monotonic_ns()}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                command, cwd=environment.ROOT, env=os.environ | env, stdout=out, stderr=out, start_new_session=True
            )
        try:
            yield Worker(process, log)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def cpu_seconds(self, *workers: "Worker") -> float:
        """What workers, PostgreSQL and Valkey have used so far; the stand-in and this process are apart."""
        servers = (self.postgres.process, self.valkey.process)
        return tree.cpu_seconds([*(server.pid for server in servers if server), *(it.process.pid for it in workers)])


@dataclass(frozen=True)
class Worker:
    process: subprocess.Popen[bytes]
    log: Path

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for(self, words: str) -> None:
        wait_until(lambda: words in self.said(), seconds=60, what=f"{words!r} in\n{self.said()[-2000:]}")

    def memory(self) -> float:
        """Megabytes of the largest of its processes."""
        return max(tree.megabytes(pid) for pid in tree.members([self.process.pid]))


@contextmanager
def _standin(state: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.bench.standin"]
    process = subprocess.Popen(command, cwd=environment.ROOT, stdout=subprocess.PIPE, text=True)
    out: IO[str] | None = process.stdout
    assert out is not None
    try:
        yield out.readline().strip()
    finally:
        process.kill()
        process.wait()
        out.close()


def wait_until(is_so: Callable[[], bool], *, seconds: float, what: str, pause: float = 0.05) -> None:
    """Look again and again.

    Raises:
        Stuck: if it is not so in time.
    """
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise Stuck(f"waited {seconds:.0f} s in vain for {what}")
        time.sleep(pause)

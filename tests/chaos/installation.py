"""The system under test: the real `make run` on a throw-away directory, and every way of reaching it from outside."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import psycopg
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from donate1024.stack import environment, ports
from donate1024.stack.children import spawn
from tests.chaos.family import Family
from tests.chaos.machine_clock import MachineClock

ADMIN_CHAT = 900
PATIENCE = 120.0  # seconds, on a machine that does other things too
# Beat's ticks, each minute in earnest, here come each second.
EACH_SECOND = "INSERT INTO django_celery_beat_intervalschedule (every, period) VALUES (1, 'seconds')"
HURRY = """
UPDATE django_celery_beat_periodictask SET interval_id = often.id
FROM (SELECT id FROM django_celery_beat_intervalschedule WHERE every = 1 AND period = 'seconds') AS often
WHERE name IN ('plan', 'sweep') AND interval_id <> often.id RETURNING 1
"""


class Stuck(Exception):
    """Something did not happen in a long time; the text says what."""


class SandboxSaysNo(Exception):
    """What somebody wanted to do is impossible: to write in a chat that they blocked, for example."""


class Installation:
    """Started, killed, started again on the same directory; its logs stay until the whole run was good."""

    def __init__(self, *, starts: float) -> None:
        self.state = Path(tempfile.mkdtemp(prefix="donate1024-chaos-"))
        self.clock = MachineClock(self.state, starts=starts)
        self.ports = {name: ports.free() for name in environment.PORTS}
        clean = {name: value for name, value in os.environ.items() if name not in environment.NAMES}
        self.env = clean | {name: str(port) for name, port in self.ports.items()}
        self.env |= {"STATE_DIR": str(self.state), "DONATE1024_ENV_FILE": "", "COLUMNS": "200"}
        self.env |= {"TELEGRAM_ADMIN_CHATS": str(ADMIN_CHAT), "SUPPORT_CONTACT": "@support"}
        self.deaths: dict[str, int] = {}  # of each part since the supervisor's start: its pauses grow
        self.start()

    # The supervisor

    def start(self) -> None:
        said = self.state / "logs" / "supervisor.log"
        already = said.stat().st_size if said.exists() else 0
        self.supervisor = spawn(
            [sys.executable, "-m", "donate1024.stack", "run"], log=said, env=self.env, cwd=environment.ROOT
        )
        self.family = Family(self.supervisor.pid)
        self.deaths.clear()

        def runs() -> bool:
            if self.supervisor.poll() is not None:
                raise Stuck(f"the supervisor ended with {self.supervisor.returncode}")
            return "donate1024 is running" in said.read_bytes()[already:].decode(errors="replace")

        wait_until(runs, what="make run to be ready")

    def stop(self) -> None:
        """Ctrl-C."""
        if self.supervisor.poll() is None:
            self.supervisor.send_signal(signal.SIGINT)
        self.supervisor.wait(PATIENCE)

    def kill(self) -> None:
        self.supervisor.kill()
        self.supervisor.wait()

    def forget(self) -> None:
        shutil.rmtree(self.state, ignore_errors=True)
        shutil.rmtree(environment.socket_dir(self.state), ignore_errors=True)

    # The sandbox

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Ask until it answers: it may be dead for a moment.

        Raises:
            SandboxSaysNo: if it refuses.
        """
        found: list[Any] = []

        def answers() -> bool:
            connection = HTTPConnection("127.0.0.1", self.ports["SANDBOX_PORT"], timeout=10)
            try:
                connection.request(method, f"/control/{path}", None if body is None else json.dumps(body))
                answer = connection.getresponse()
                found[:] = [answer.status, answer.read()]
            except (OSError, HTTPException):
                return False
            finally:
                connection.close()
            return True

        wait_until(answers, what=f"the sandbox to answer {path}")
        if found[0] >= 300:
            raise SandboxSaysNo(f"{path}: {found[1].decode(errors='replace')}")
        return json.loads(found[1] or "null")

    # The database and Valkey

    def rows(self, statement: str, *parameters: object) -> list[tuple[Any, ...]] | None:
        """What the statement returns, or None while the database does not answer. Only to wait, to steer, to show."""
        try:
            url = environment.database_url(self.state)
            with psycopg.connect(
                url, connect_timeout=2, autocommit=True, options="-c statement_timeout=4000"
            ) as connection:
                cursor = connection.execute(statement.encode(), parameters)
                return cursor.fetchall() if cursor.description else []
        except psycopg.OperationalError:
            return None

    def rows_at_last(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []

        def answers() -> bool:
            given = self.rows(statement, *parameters)
            found[:] = given or []
            return given is not None

        wait_until(answers, what="the database to answer")
        return found

    def hurry_beat(self) -> None:
        """Let the ticks come each second; beat writes its own interval at each of its starts."""
        if self.rows(HURRY):
            self.rows("UPDATE django_celery_beat_periodictasks SET last_update = now()")

    def valkey(self) -> "redis.Redis":
        return redis.Redis.from_url(environment.redis_url(self.state), socket_timeout=5, retry=Retry(NoBackoff(), 0))

    # What a person types

    def run(self, name: str, *command: str) -> "Program":
        log = self.state / "logs" / f"{name}-{len(list(self.state.glob('logs/*')))}.typed"
        with log.open("ab") as out:
            process = subprocess.Popen(
                [sys.executable, *command],
                cwd=environment.ROOT,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )
        return Program(process, log)

    def manage(self, *arguments: str) -> "Program":
        return self.run(arguments[0], "manage.py", *arguments)

    def insist(self, *arguments: str, unless: str = "\0") -> str:
        """Type it again until it works, or says `unless`: a person does, while a database comes back."""
        said = ""

        def works() -> bool:
            nonlocal said
            program = self.manage(*arguments)
            code = program.process.wait(PATIENCE)
            said = program.said
            return code == 0 or unless in said

        try:
            wait_until(works, what=" ".join(arguments), seconds=60, pause=0.5)
        except Stuck as stuck:
            raise Stuck(f"{stuck}\n{said[-2000:]}") from None
        return said


@dataclass(frozen=True)
class Program:
    """Something that a person started."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def end(self) -> None:
        """By force, where it still runs."""
        self.process.kill()
        self.process.wait()


def wait_until(is_so: Callable[[], bool], *, what: str, seconds: float = PATIENCE, pause: float = 0.05) -> None:
    """Look again and again.

    Raises:
        Stuck: if it is not so in time.
    """
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise Stuck(f"waited {seconds:.0f} s in vain for {what}")
        time.sleep(pause)

"""What a test does to processes and servers: freeze, kill, start again, cut."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic, sleep

import psycopg

from donate1024.stack.children import ServerError
from donate1024.stack.embedded import Postgres, Server


def family(process_id: int) -> list[int]:
    """The process and everything that it started, oldest first."""
    listed = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], text=True, capture_output=True, check=True).stdout
    parents = {int(child): int(parent) for child, parent in map(str.split, listed.splitlines())}
    found = [process_id]
    for member in found:
        found += [child for child, parent in parents.items() if parent == member]
    return found


def signal_all(process_ids: list[int], number: signal.Signals) -> None:
    for process_id in process_ids:
        with suppress(ProcessLookupError):
            os.kill(process_id, number)


@contextmanager
def frozen(process_id: int, *, with_children: bool = True) -> Iterator[None]:
    """Nothing of it runs meanwhile."""
    members = family(process_id) if with_children else [process_id]
    signal_all(members, signal.SIGSTOP)
    try:
        yield
    finally:
        signal_all(members, signal.SIGCONT)


def pid(server: Server) -> int:
    assert server.process is not None
    return server.process.pid


def kill(server: Server) -> None:
    """SIGKILL to its first process: PostgreSQL's others see that, and end."""
    assert server.process is not None
    server.process.kill()
    server.process.wait(10)


def start_again(server: Server) -> None:
    """As the supervisor does: again and again while what a killed PostgreSQL left is still ending."""
    end = monotonic() + 30
    while True:
        try:
            return server.start()
        except ServerError:
            if monotonic() > end:
                raise
            sleep(0.2)


def connect(postgres: Postgres, database: str = "postgres") -> psycopg.Connection:
    return psycopg.connect(host=str(postgres.sockets), user="postgres", dbname=database, autocommit=True)


def cut_all(admin: psycopg.Connection) -> int:
    """`pg_terminate_backend` for every other client; returns how many there were."""
    cut = admin.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    ).fetchall()
    return len(cut)

"""Both servers on the state directory of the first argument, until this process ends."""

import os
import sys
from contextlib import suppress
from pathlib import Path

import psycopg
import redis

from donate1024.stack import unprivileged
from donate1024.stack.children import libc
from donate1024.stack.embedded import Postgres, Valkey

PR_SET_DUMPABLE = 4


def run(state: Path, who: str) -> None:
    """`who`: `best` is whoever starts this, `nobody` root without user namespaces, a number another user."""
    if who.isdecimal():
        become(int(who), state)
    account = unprivileged.nobody if who == "nobody" else unprivileged.account
    with Postgres(state, account=account), Valkey(state):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.read()


def become(user: int, state: Path) -> None:
    """Only inside the running Python: root's own may lie where nobody else can read it."""
    for server in (Postgres(state), Valkey(state)):
        with suppress(psycopg.OperationalError, redis.ConnectionError):
            server.probe()  # the clients import much of themselves at their first connection
    os.setgroups([])
    os.setgid(1)
    os.setuid(user)
    libc.prctl(PR_SET_DUMPABLE, 1)  # as after an exec: /proc/self is ours again


if __name__ == "__main__":
    run(Path(sys.argv[1]), sys.argv[2])

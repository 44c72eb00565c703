"""The supervisor's children, found from outside: by /proc and by their command lines."""

import os
import signal
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

# What stands in the command line of each part; Celery rewrites its own where setproctitle is installed.
ROLES = {
    "sandbox": "donate1024.sandbox",
    "postgres": "/bin/postgres",
    "valkey": "valkey-server",
    "web": "uvicorn",
    "bot": "run_bot",
    "telegram": "telegram@",
    "default": "default@",
    "beat": " donate1024 beat ",
}


class NotThere(Exception):
    """The part does not run at this moment."""


class Family:
    """Every process below one supervisor, asked anew each time: they die and come back."""

    def __init__(self, supervisor: int) -> None:
        self.supervisor = supervisor

    def leader(self, role: str) -> int:
        """The part's own process: a worker's parent, PostgreSQL's postmaster.

        Raises:
            NotThere: if it is dead.
        """
        for pid in _children()[self.supervisor]:
            if ROLES[role] in _command(pid):
                return pid
        raise NotThere(role)

    def whole(self, role: str) -> list[int]:
        """The part's process and everything below it."""
        children, found = _children(), [self.leader(role)]
        for pid in found:
            found += children[pid]  # grows while it is walked
        return found

    def missing(self) -> list[str]:
        return [role for role in ROLES if not self.has(role)]

    def has(self, role: str) -> bool:
        with suppress(NotThere):
            return bool(self.leader(role))
        return False


def tell(pids: list[int], number: signal.Signals) -> None:
    """Signal them all; whoever is gone by now is gone."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _children() -> defaultdict[int, list[int]]:
    children: defaultdict[int, list[int]] = defaultdict(list)
    for directory in Path("/proc").iterdir():
        if directory.name.isdecimal():
            with suppress(OSError):
                # The name, in brackets, may hold anything; after it come the state and the parent.
                state, parent = (directory / "stat").read_text().rpartition(")")[2].split()[:2]
                if state != "Z":
                    children[int(parent)].append(int(directory.name))
    return children


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ")
    except OSError:
        return ""

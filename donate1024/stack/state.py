"""The state directory: whose it is, and what the processes on it share."""

import fcntl
import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

LEFTOVERS_END_WITHIN, KILLED_END_WITHIN = 60.0, 10.0  # seconds


class StateInUse(RuntimeError):
    """Another supervisor works on this directory."""


@dataclass(frozen=True)
class Place:
    """Where processes live: their state directory and environment, and the lock that they hold open."""

    state: Path
    env: Mapping[str, str]
    keep_open: tuple[int, ...] = ()

    def log(self, name: str) -> Path:
        return self.state / "logs" / f"{name}.log"


@contextmanager
def claimed(state: Path) -> Iterator[int]:
    """Own the directory; gives the descriptor that servers, and whoever has a port, must hold open.

    A supervisor that was killed frees the first lock at once, the second only when the last of these has ended: no
    two generations of servers ever meet on the same data. What does not end within a minute, frozen or hung, is killed.

    Raises:
        StateInUse: if another supervisor owns it, or what a killed one left cannot be ended.
    """
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (state / "supervisor.lock").open("w") as ours:
        if not _locks(ours.fileno()):
            raise StateInUse(f"already running on {state}: stop that one first, or choose another STATE_DIR and ports")
        with (state / "children.lock").open("w") as theirs:
            if not _locks(theirs.fileno(), within=LEFTOVERS_END_WITHIN):
                for process_id in _others_with(state / "children.lock"):
                    os.kill(process_id, signal.SIGKILL)
                if not _locks(theirs.fileno(), within=KILLED_END_WITHIN):
                    raise StateInUse(f"processes of an earlier run, which was killed, are still alive on {state}")
            yield theirs.fileno()


def write_privately(file: Path, text: str) -> None:
    """Replace the file as a whole, readable by its owner only: a reader sees the old text or the new one."""
    draft = file.with_name(f".{file.name}.new")
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600)
    draft.write_text(text)
    draft.replace(file)


def _locks(descriptor: int, *, within: float = 0) -> bool:
    end = time.monotonic() + within
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(0.1)
        else:
            return True


def _others_with(file: Path) -> set[int]:
    """The other processes that have it open; only Linux tells."""
    found = set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):  # it has ended, or is not ours
            if link.readlink() == file.resolve():
                found.add(int(link.parts[2]))
    return found - {os.getpid()}

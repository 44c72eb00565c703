"""Child processes that do not outlive this one."""

import ctypes
import os
import signal
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

LINUX = sys.platform == "linux"
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None, use_errno=True)

Command = Sequence[str | Path]


class ServerError(RuntimeError):
    """A server does not start; the message says why."""


def nothing() -> None:
    """What a child does before it becomes the command, where nothing special is needed."""


def spawn(
    command: Command,
    *,
    log: Path,
    env: Mapping[str, str],
    cwd: Path,
    prepare: Callable[[], None] = nothing,
    at_our_death: signal.Signals = signal.SIGTERM,
    keep_open: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start the command in a session of its own (Ctrl-C reaches only us), its output appended to `log`.

    `prepare` runs in the child before the command. On Linux the kernel sends the child `at_our_death` when this
    process ends, even by SIGKILL. Call it from the main thread only: for the kernel a child's parent is the thread.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=partial(_become, prepare, at_our_death),  # noqa: PLW1509  no threads here
            pass_fds=keep_open,
        )


def _become(prepare: Callable[[], None], at_our_death: signal.Signals) -> None:
    prepare()  # first: a change of user clears the signal
    if LINUX:
        libc.prctl(PR_SET_PDEATHSIG, at_our_death)


class Child(ABC):
    """A process with a log of its own, which can be started again after it has ended."""

    name: str
    log: Path
    stop_signal = signal.SIGTERM
    grace = 15.0  # seconds that it gets to end
    process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def start(self) -> None:
        """Begin it; it does not run yet, or has ended."""

    def is_ready(self) -> bool:
        """Whether it has reached its work; asked after `start` only."""
        return True

    def attend(self) -> None:  # noqa: B027 -- most need no help
        """Help it with what it cannot do alone; called again and again while it runs."""

    @property
    def returncode(self) -> int | None:
        """None while it runs, as `Popen.poll`."""
        return self.process.poll() if self.process else None

    def ask_to_stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.send_signal(self.stop_signal)

    def stop(self) -> str:
        """End it and everything it started, by force when its time is over; says how it went."""
        if self.process is None:
            return "was not running"
        self.ask_to_stop()
        how = "stopped"
        try:
            self.process.wait(self.grace)
        except subprocess.TimeoutExpired:
            how = f"did not stop within {self.grace:g} s: killed"
        _kill_group(self.process.pid)
        self.process.wait()
        self.process = None
        return how


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:  # nobody outlived the leader
        return

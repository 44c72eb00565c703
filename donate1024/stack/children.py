"""Starting child processes that do not outlive this one."""

import ctypes
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

LINUX = sys.platform == "linux"
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None, use_errno=True)

Command = Sequence[str | Path]


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

    def become() -> None:
        prepare()  # first: a change of user clears the signal
        if LINUX:
            libc.prctl(PR_SET_PDEATHSIG, at_our_death)

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
            preexec_fn=become,  # noqa: PLW1509  no threads here
            pass_fds=keep_open,
        )

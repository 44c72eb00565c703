"""The application's processes, and the commands that run to their end beside them."""

import signal
import subprocess
import sys

from donate1024.stack import ports
from donate1024.stack.children import Child, spawn
from donate1024.stack.environment import ROOT
from donate1024.stack.logs import size_of, text_after
from donate1024.stack.state import Place


class Process(Child):
    """A Python program of the project that runs until it is stopped."""

    def __init__(
        self, name: str, *arguments: str, place: Place, port: int | None = None, says: str = "", grace: float = 10.0
    ) -> None:
        """It is ready when `port` answers, or when its log says `says`."""
        self.name = name
        self.arguments = arguments
        self.place = place
        self.port = port
        self.says = says
        self.grace = grace
        self.log = place.log(name)
        self.log_began = 0

    def start(self) -> None:
        self.log_began = size_of(self.log)
        self.process = spawn(
            [sys.executable, *self.arguments],
            log=self.log,
            env=self.place.env,
            cwd=ROOT,
            keep_open=self.place.keep_open,
        )

    def is_ready(self) -> bool:
        if self.port is not None:
            return ports.answers(self.port)
        return self.says in text_after(self.log, self.log_began)


class CommandFailed(RuntimeError):
    """A command that must succeed did not; the message is what it said."""


class Command:
    """A management command that runs to its end beside others."""

    def __init__(self, *arguments: str, place: Place) -> None:
        self.arguments = arguments
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=place.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def output(self) -> str:
        """What it printed, once it has ended.

        Raises:
            CommandFailed: if it ended with a fault.
        """
        printed, complaint = self.process.communicate()
        if self.process.returncode:
            raise CommandFailed(f"manage.py {' '.join(self.arguments)}: {_reason(complaint or printed)}")
        return printed


def _reason(complaint: str) -> str:
    """What was said, without the way there: of a traceback only the exception at its end."""
    lines = complaint.strip().splitlines()
    indented = [number for number, line in enumerate(lines) if line.startswith("  ")]
    is_traceback = any(line.startswith("Traceback") for line in lines)
    return "\n".join(lines[indented[-1] + 1 :] if is_traceback and indented else lines)


def describe_end(returncode: int) -> str:
    return f"killed by {signal.Signals(-returncode).name}" if returncode < 0 else f"ended with {returncode}"

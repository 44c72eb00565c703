"""The processes' log files."""

import os
import re
import shutil
from pathlib import Path

LARGEST = 20 * 1024 * 1024  # bytes
# As logging, PostgreSQL, a traceback's end and our own start (manage.py) write it.
_ERROR = re.compile(
    r"\b(?:ERROR|CRITICAL|FATAL|PANIC)\b(?:/\w+\])?[: ]*(?:[\w.]+: )?(?P<said>.+)"
    r"|^(?P<raised>[\w.]+(?:Error|Exception|Exit)(?::.*)?)$|^(?P<refused>donate1024 cannot .+)"
)


def size_of(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


def text_after(log: Path, offset: int) -> str:
    with log.open("rb") as file:
        file.seek(offset)
        return file.read().decode(errors="replace")


def last_lines(log: Path, count: int = 8) -> str:
    """The end of a log, where the reason stands."""
    return "\n".join(log.read_text(errors="replace").rstrip().splitlines()[-count:])


def last_error(log: Path, since: int) -> str:
    """The last error after that place, of a traceback its last line; empty where there is none."""
    found = [_ERROR.search(line) for line in text_after(log, since).splitlines()]
    return next((error[error.lastgroup or 0] for error in reversed(found) if error), "")


def keep_small(log: Path) -> None:
    """Put a long log aside, in place of the one that was put aside before; the process goes on appending to it.

    On a full disk its lines are given up: the room is needed more.
    """
    if size_of(log) > LARGEST:
        aside = log.with_suffix(".old.log")
        try:
            shutil.copyfile(log, aside)
        except OSError:
            aside.unlink(missing_ok=True)
        os.truncate(log, 0)

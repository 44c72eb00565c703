"""The processes' log files."""

import os
import shutil
from pathlib import Path

LARGEST = 20 * 1024 * 1024  # bytes


def size_of(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


def text_after(log: Path, offset: int) -> str:
    with log.open("rb") as file:
        file.seek(offset)
        return file.read().decode(errors="replace")


def last_lines(log: Path, count: int = 8) -> str:
    """The end of a log, where the reason stands."""
    return "\n".join(log.read_text(errors="replace").rstrip().splitlines()[-count:])


def last_words(log: Path) -> str:
    """The last line that gives a reason: what was told of it afterwards does not."""
    lines = last_lines(log).splitlines()
    reasons = [line for line in lines if " INFO " not in line and " WARNING " not in line]
    return (reasons or lines or [""])[-1]


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

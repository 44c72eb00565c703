"""The processes' log files."""

from pathlib import Path


def size_of(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


def text_after(log: Path, offset: int) -> str:
    with log.open("rb") as file:
        file.seek(offset)
        return file.read().decode(errors="replace")


def last_lines(log: Path, count: int = 8) -> str:
    """The end of a log, where the reason stands."""
    return "\n".join(log.read_text(errors="replace").rstrip().splitlines()[-count:])

"""What a process and all that it started have cost: CPU seconds and memory, from /proc."""

import os
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_GONE = (FileNotFoundError, ProcessLookupError)


def members(roots: Iterable[int]) -> list[int]:
    """The processes and their living descendants."""
    children: dict[int, list[int]] = defaultdict(list)
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(*_GONE):
            children[int(_stat(int(entry.name))[1])].append(int(entry.name))
    found = list(roots)
    for pid in found:  # it grows meanwhile
        found += children[pid]
    return found


def cpu_seconds(roots: Iterable[int]) -> float:
    """User and system time, that of ended and awaited children included."""
    ticks = 0
    for pid in members(roots):
        with suppress(*_GONE):
            ticks += sum(map(int, _stat(pid)[11:15]))
    return ticks / _TICKS


def megabytes(pid: int) -> float:
    """The proportional set size of one process: what it shares with others is divided among them."""
    with suppress(*_GONE):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


def _stat(pid: int) -> list[str]:
    """The fields after the name, which may hold anything: state, parent, ..."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()

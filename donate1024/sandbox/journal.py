"""The one file in which the sandbox remembers: a JSON object a line, only ever added to."""

import fcntl
import json
from collections.abc import Iterator
from pathlib import Path

from donate1024.sandbox import Json


class Taken(Exception):
    """Another sandbox writes to this journal."""


class Journal:
    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._file = path.open("ab", buffering=0)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Taken(f"{path} is in use by another sandbox") from None

    def replay(self) -> Iterator[Json]:
        """Every event, oldest first. Half a line at the end, which a kill can leave, is cut off."""
        whole = 0
        with self._path.open("rb") as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    self._file.truncate(whole)
                    break
                whole += len(line)
                yield json.loads(line)

    def write(self, event: Json) -> None:
        """Handed to the system before this returns: it outlives the process, though not the machine (no fsync)."""
        line = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
        self._file.write(f"{line}\n".encode("utf-8", "surrogatepass"))

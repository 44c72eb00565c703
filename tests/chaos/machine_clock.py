"""The clock that everything on the sandbox's machine reads: moved forward, never back."""

import time
from datetime import UTC, date, datetime, time as hour_of_day
from pathlib import Path
from zoneinfo import ZoneInfo

ZONE = ZoneInfo("Europe/Kyiv")


def moment(day: date, hour: hour_of_day) -> float:
    """When the clocks of Kyiv show that hour; one that spring leaves out counts as if they had not changed."""
    return datetime.combine(day, hour, ZONE).astimezone(UTC).timestamp()


class MachineClock:
    """The file `clock-offset`, and every move that it ever made."""

    def __init__(self, state: Path, *, starts: float) -> None:
        self._file = state / "clock-offset"
        self._moves: list[tuple[float, float]] = []  # the real moment, the offset from then on
        self._write(starts - time.time())

    def now(self) -> float:
        return time.time() + self._moves[-1][1]

    def local(self) -> datetime:
        return datetime.fromtimestamp(self.now(), ZONE)

    def move(self, seconds: float) -> None:
        self._write(self._moves[-1][1] + max(seconds, 0.0))

    def move_to(self, moment: float) -> None:
        """Nothing happens where it is past."""
        self.move(moment - self.now())

    def real(self, shown: float) -> float:
        """The real moment at which the clock showed this, or jumped over it."""
        for at, offset in reversed(self._moves):
            if shown >= at + offset:
                return min(shown - offset, self._next(at))
        return shown - self._moves[0][1]

    def _next(self, at: float) -> float:
        return min((later for later, _ in self._moves if later > at), default=float("inf"))

    def _write(self, offset: float) -> None:
        draft = self._file.with_suffix(".chaos")
        draft.write_text(str(offset))
        draft.replace(self._file)
        self._moves.append((time.time(), offset))

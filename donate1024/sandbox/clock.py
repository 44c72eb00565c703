"""The sandbox's clock: this machine's, plus an offset in a file that everything of the sandbox reads."""

import time as system_clock
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

# The morning's tick must come after the jump, not before it.
EARLY = timedelta(seconds=5)


class Clock:
    def __init__(self, state: Path, zone: ZoneInfo, morning: time) -> None:
        self._file = state / "clock-offset"
        self.zone = zone
        self._morning = morning

    def offset(self) -> float:
        """Seconds ahead of the machine's clock; read at each use, as `posts.clock` does."""
        try:
            return float(self._file.read_text())
        except (FileNotFoundError, ValueError):
            return 0.0

    def now(self) -> float:
        return system_clock.time() + self.offset()

    def local(self) -> datetime:
        return datetime.fromtimestamp(self.now(), self.zone)

    def jump_to_next_morning(self) -> datetime:
        """Move everybody's clock to shortly before the next morning, only ever forwards; the new moment."""
        now = self.local()
        day = now.date()
        while (goal := datetime.combine(day, self._morning, self.zone).astimezone(UTC) - EARLY) <= now:
            day += timedelta(days=1)
        temporary = self._file.with_suffix(".new")
        temporary.write_text(str(goal.timestamp() - system_clock.time()))
        temporary.replace(self._file)
        return self.local()

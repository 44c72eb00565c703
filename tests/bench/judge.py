"""What the stand-in knows of a run: who got how many messages, and when."""

from collections import Counter, deque
from time import monotonic, process_time, time
from typing import Any


class Judge:
    """Counts every message that was accepted; the client's word counts for nothing."""

    def __init__(self, *, limit: int = 0) -> None:
        """`limit` is how many messages any one second may hold, sliding; 0 is no limit."""
        self.received: Counter[int] = Counter()
        self.refused = 0
        self.in_flight = self.most_in_flight = 0
        self._limit = limit
        self._last: deque[float] = deque(maxlen=limit or 1)
        self._tenths: Counter[int] = Counter()
        self._cpu = process_time()

    def accepts(self, chat_id: int) -> bool:
        """Whether the message is within the limit; then it counts as received."""
        at = monotonic()
        if self._limit and len(self._last) == self._limit and at - self._last[0] < 1:
            self.refused += 1
            return False
        self._last.append(at)
        self.received[chat_id] += 1
        self._tenths[int(time() * 10)] += 1
        return True

    def begin(self) -> None:
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def end(self) -> None:
        self.in_flight -= 1

    def report(self) -> dict[str, Any]:
        first, last = min(self._tenths, default=0), max(self._tenths, default=0)
        seconds: Counter[int] = Counter()
        for tenth, count in self._tenths.items():
            seconds[tenth // 10] += count
        return {
            "received": self.received.total(),
            "twice": sum(1 for count in self.received.values() if count > 1),
            "refused": self.refused,
            "most_in_flight": self.most_in_flight,
            "most_in_a_calendar_second": max(seconds.values(), default=0),
            "tenths": [self._tenths[tenth] for tenth in range(first, last + 1)],
            "cpu_seconds": process_time() - self._cpu,
        }

"""Telegram's rate limit: so many messages in any second for the whole bot, then nothing for a while."""

import math
from collections import deque

from donate1024.sandbox.refusals import too_many_requests

PENALTY = 1  # seconds; Telegram's own are 1 to several thousand


class Flood:
    def __init__(self, per_second: float | None) -> None:
        self.per_second = per_second
        self._taken: deque[float] = deque()
        self._closed_until = 0.0

    def take(self, *, at: float) -> None:
        """Count one message at this moment (seconds of a clock that only goes forward).

        Raises:
            Refused: 429, when the second is full, and for everybody until `retry_after` has passed.
        """
        if at < self._closed_until:
            raise too_many_requests(math.ceil(self._closed_until - at))
        while self._taken and self._taken[0] <= at - 1:
            self._taken.popleft()
        if self.per_second is not None and len(self._taken) >= self.per_second:
            self._closed_until = at + PENALTY
            raise too_many_requests(PENALTY)
        self._taken.append(at)

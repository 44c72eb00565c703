"""How many calls may be in flight: enough to keep the pace, so that a kill leaves few whose outcome is unknown."""

import math
from collections import deque
from statistics import quantiles

TURN_SECONDS = 0.01  # between two claims of a busy slice
HEADROOM = 1.25
LEAST_IN_FLIGHT = 4  # over all slices
SHORTEST_LATENCY, LONGEST_LATENCY = 0.05, 0.3  # seconds: beyond, a slow service must not fill the window
SAMPLES = 200


class Window:
    """The cap of one slice, following the latency that its answered calls show.

    Over all slices: rate x (95th percentile of the latency + a turn) x 1.25.
    """

    def __init__(self, *, per_second: float, slices: int) -> None:
        self._per_second = per_second
        self._slices = slices
        self._latencies: deque[float] = deque(maxlen=SAMPLES)
        self._observed = 0
        self.cap = self._for(SHORTEST_LATENCY)

    def observe(self, seconds: float) -> None:
        """Count one answered call."""
        self._latencies.append(seconds)
        self._observed += 1
        if self._observed % 20 == 0:  # sorting them at each answer would cost more than the answer
            seen = quantiles(self._latencies, n=20)[-1]
            self.cap = self._for(min(max(seen, SHORTEST_LATENCY), LONGEST_LATENCY))

    @property
    def most(self) -> int:
        """What the cap can grow to: so many connections are needed."""
        return self._for(LONGEST_LATENCY)

    @property
    def permits_per_turn(self) -> int:
        return max(1, math.ceil(self._per_second * TURN_SECONDS * 1.5 / self._slices))

    def _for(self, latency: float) -> int:
        in_flight = math.ceil(self._per_second * (latency + TURN_SECONDS) * HEADROOM)
        return max(1, max(in_flight, LEAST_IN_FLIGHT) // self._slices)

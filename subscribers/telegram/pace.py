"""The pace: one rate limiter in Valkey for every process that writes to Telegram."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import redis.asyncio
from django.conf import settings

# Against a strict sliding window of 30/s, 30.0 configured meets a 429 each second and 29.4 none (measured).
SHARE_OF_LIMIT = 0.98
MICROSECONDS = 1_000_000  # in a second
FURTHEST = 60  # seconds ahead: what is reserved lives as long in Valkey

# GCRA without a burst: KEYS[1] holds the moment at which the next message may go, KEYS[2] the end of a flood wait, in
# microseconds of Valkey's own clock, since the hosts' clocks differ. Reserves up to ARGV[2] moments, ARGV[1] apart, of
# which the last lies at most ARGV[3] ahead. Returns how many it reserved, and how far ahead the first lies.
_RESERVE = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval, most, horizon = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local next = tonumber(redis.call('GET', KEYS[1]) or 0)
if next > now + 60000000 + 2 * interval then next = now end -- nobody reserves so far ahead: the clock was put back
next = math.max(next, tonumber(redis.call('GET', KEYS[2]) or 0), now)
local fitting = math.floor((now + horizon - next) / interval) + 1
local reserved = math.max(0, math.min(most, fitting))
if reserved > 0 then
  redis.call('SET', KEYS[1], string.format('%.0f', next + reserved * interval), 'PX', 60000)
end
return {reserved, math.floor(next - now)}
"""
# Of two flood waits the longer one counts; the key lives as long as the wait. Returns how long it still lasts.
_BE_QUIET = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local quiet_until = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now + tonumber(ARGV[1]))
if quiet_until > now then
  redis.call('SET', KEYS[1], string.format('%.0f', quiet_until), 'PX', math.ceil((quiet_until - now) / 1000))
end
return math.floor(quiet_until - now)
"""
_NEXT, _QUIET = "telegram:next-message-at", "telegram:quiet-until"


class Pace:
    """Permits to send, spaced evenly over all processes."""

    def __init__(self, client: redis.asyncio.Redis, *, per_second: float) -> None:
        self.interval = MICROSECONDS / (per_second * SHARE_OF_LIMIT)
        self._reserve = client.register_script(_RESERVE)
        self._be_quiet = client.register_script(_BE_QUIET)

    async def take(self, most: int, *, horizon: float) -> list[float]:
        """Reserve up to `most` permits; returns how many seconds from now each may be used, soonest first.

        None lies more than `horizon` seconds ahead; an empty list says that the moments until then are all taken.

        Raises:
            redis.exceptions.RedisError: Valkey is out of reach; without it nothing of a broadcast may be sent.
        """
        reserved, first = await self._reserve(keys=[_NEXT, _QUIET], args=[self.interval, most, horizon * MICROSECONDS])
        return [(first + number * self.interval) / MICROSECONDS for number in range(reserved)]

    async def book(self, count: int = 1) -> None:
        """Count messages that went without a permit (a reply, an alert), so that the broadcast gives way to them."""
        await self._reserve(keys=[_NEXT, _QUIET], args=[self.interval, count, FURTHEST * MICROSECONDS])

    async def be_quiet(self, seconds: float = 0) -> float:
        """Give no permit for so long: Telegram's flood wait is for the whole bot. Returns how long the wait still is.

        Valkey may lose it; what it held of a broadcast stands in PostgreSQL too.
        """
        return float(await self._be_quiet(keys=[_QUIET], args=[seconds * MICROSECONDS])) / MICROSECONDS


@asynccontextmanager
async def open_pace() -> AsyncIterator[Pace]:
    """The pace of TELEGRAM_MESSAGES_PER_SECOND, on a connection of its own that every call gives up after 2 s."""
    client = redis.asyncio.Redis.from_url(settings.LIMITER_URL, socket_timeout=2, socket_connect_timeout=2)
    try:
        yield Pace(client, per_second=settings.TELEGRAM_MESSAGES_PER_SECOND)
    finally:
        await client.aclose()

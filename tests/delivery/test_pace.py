"""The limiter in the real Valkey."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise
from time import monotonic

import pytest
import redis.asyncio
import redis.exceptions
from django.conf import LazySettings

from subscribers.telegram.pace import Pace, open_pace

PER_SECOND = 100
INTERVAL = 1 / 98  # seconds: 98 % of what is allowed


@pytest.fixture
async def pace(settings: LazySettings) -> AsyncIterator[Pace]:
    settings.TELEGRAM_MESSAGES_PER_SECOND = PER_SECOND
    async with open_pace() as pace:
        yield pace


async def moments(pace: Pace, *, until: float, horizon: float = 0.1) -> list[tuple[float, float]]:
    """When each permit of one sender was for: not before the one, not after the other, by our own clock."""
    taken = []
    while (asked := monotonic()) < until:
        permits = await pace.take(3, horizon=horizon)
        told = monotonic()
        taken += [(asked + permit, told + permit) for permit in permits]
        await asyncio.sleep(permits[-1] if permits else 0.005)
    return taken


async def test_two_senders_together_use_the_rate_and_exceed_it_in_no_window(pace: Pace) -> None:
    end = monotonic() + 1.5
    async with open_pace() as other:
        both = await asyncio.gather(moments(pace, until=end), moments(other, until=end))

    taken = sorted(both[0] + both[1])
    for first in taken:
        surely = [moment for moment in taken if first[1] <= moment[0] and moment[1] < first[0] + 1]
        assert len(surely) <= PER_SECOND
    assert len(taken) > PER_SECOND / 2  # a busy machine loses moments: an idle time saves up nothing
    assert all(both)


async def test_permits_are_spaced_evenly(pace: Pace) -> None:
    permits = await pace.take(5, horizon=1)

    assert len(permits) == 5
    assert [later - earlier for earlier, later in pairwise(permits)] == pytest.approx([INTERVAL] * 4)


async def test_an_idle_time_saves_up_nothing(pace: Pace) -> None:
    await pace.take(1, horizon=1)
    await asyncio.sleep(0.3)

    permits = await pace.take(10, horizon=1)

    assert permits[0] == 0
    assert permits[-1] == pytest.approx(9 * INTERVAL)


async def test_no_permit_lies_beyond_the_horizon(pace: Pace) -> None:
    permits = await pace.take(1000, horizon=0.25)

    assert permits[-1] <= 0.25
    assert len(permits) == 25  # at 0, and 24 intervals of 10.2 ms
    assert await pace.take(1, horizon=0.2) == []


async def test_the_broadcast_gives_way_to_messages_that_went_without_a_permit(pace: Pace) -> None:
    await pace.book(20)

    (permit,) = await pace.take(1, horizon=1)

    assert permit == pytest.approx(20 * INTERVAL, abs=0.05)


async def test_the_next_permit_comes_right_after_what_is_reserved_or_booked(settings: LazySettings) -> None:
    settings.TELEGRAM_MESSAGES_PER_SECOND = 1 / 0.98  # an interval of a second
    async with open_pace() as pace:
        await pace.take(2, horizon=10)
        (after_two,) = await pace.take(1, horizon=10)
        await pace.book()
        (after_four,) = await pace.take(1, horizon=10)

    assert 1 < after_two <= 2
    assert 3 < after_four <= 4


async def test_an_emptied_valkey_that_forgot_the_script_too_goes_on(pace: Pace, settings: LazySettings) -> None:
    await pace.take(50, horizon=1)
    async with redis.asyncio.Redis.from_url(settings.LIMITER_URL) as client:
        await client.flushdb()
        await client.script_flush()

    assert await pace.take(1, horizon=0) == [0]


async def test_what_is_forgotten_ends_by_itself(pace: Pace, settings: LazySettings) -> None:
    await pace.take(1, horizon=1)

    async with redis.asyncio.Redis.from_url(settings.LIMITER_URL) as client:
        (key,) = await client.keys()
        assert 50_000 < await client.pttl(key) <= 60_000


async def test_a_valkey_that_is_away_is_told(settings: LazySettings) -> None:
    settings.LIMITER_URL = "unix:///nowhere/valkey.sock"

    async with open_pace() as pace:
        with pytest.raises(redis.exceptions.RedisError):
            await pace.take(1, horizon=1)


async def test_without_a_flood_nobody_waits(pace: Pace) -> None:
    assert await pace.be_quiet() == 0
    assert await pace.take(1, horizon=0) == [0]


async def test_a_flood_wait_is_for_every_process(pace: Pace) -> None:
    async with open_pace() as other:
        await other.be_quiet(0.4)

        permits = await pace.take(1, horizon=0.2)
        still = await pace.be_quiet()
        await other.be_quiet(0.1)
        longer = await pace.be_quiet()

    assert permits == []
    assert 0.2 < still <= 0.4
    assert longer > 0.15
    await asyncio.sleep(longer)
    assert await pace.take(1, horizon=0.2)


async def test_a_valkey_whose_clock_was_put_back_an_hour_gives_permits_at_once(
    pace: Pace, settings: LazySettings
) -> None:
    async with redis.asyncio.Redis.from_url(settings.LIMITER_URL) as valkey:
        seconds, microseconds = await valkey.time()
        await valkey.set("telegram:next-message-at", (seconds + 3600) * 1_000_000 + microseconds)

    assert await pace.take(1, horizon=0.1)

"""One look at everything, with a deadline of the looker's own: a frozen server hangs whoever waits for its answer."""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from math import inf
from typing import Any, TypeVar

import psycopg
import redis.asyncio
from django.conf import settings
from django.db import connection as django_connection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from delivery.models import DailySchedule
from donate1024.watch.heartbeats import BEAT, Sign
from donate1024.watch.rules import RULES
from posts import clock

T = TypeVar("T")

ANSWER_WITHIN = 5.0  # seconds
VALKEY_KEY = "donate1024:watch"

# Deliveries wait since their hour, the last answer or the last thing that a person did, whichever came last.
_AGES = """
SELECT name, extract(epoch FROM clock_timestamp() - at)::float, extract(epoch FROM clock_timestamp() - since)::float,
    detail
FROM watch_heartbeat
UNION ALL
SELECT 'broadcast', extract(epoch FROM clock_timestamp() + %(offset)s - max(planned_at))::float, NULL, '{}'
FROM delivery_broadcast
UNION ALL
SELECT 'deliveries',
    max(extract(epoch FROM clock_timestamp() + %(offset)s - greatest(due.first, answered.last, changed.last)))::float,
    NULL, '{}'
FROM delivery_broadcast AS broadcast
CROSS JOIN LATERAL (
    SELECT min(not_before) AS first FROM delivery_delivery
    WHERE broadcast_id = broadcast.id AND status = 'pending') AS due
CROSS JOIN LATERAL (
    SELECT max(settled_at) AS last FROM delivery_delivery
    WHERE broadcast_id = broadcast.id AND claimed_at IS NOT NULL AND settled_at IS NOT NULL) AS answered
CROSS JOIN LATERAL (SELECT max(at) AS last FROM delivery_change WHERE broadcast_id = broadcast.id) AS changed
WHERE broadcast.status IN ('planned', 'sending') AND broadcast.run_until > clock_timestamp() + %(offset)s
    AND due.first IS NOT NULL
"""
_SCHEDULE = """
SELECT clock_timestamp() + %(offset)s, send_at, latest_after, is_enabled, effective_from,
    (SELECT array_agg(date) FROM delivery_broadcast WHERE date > current_date - 3)
FROM delivery_dailyschedule
"""


@dataclass(frozen=True)
class Seen:
    """What was found. Without the database nothing is known of the parts but the two servers."""

    troubles: Mapping[str, str]  # of each server that does not answer, or takes no writes: what it said
    ages: Mapping[str, float]  # by the parts' names, as in judging.Look; of the servers, those that answer
    unbroken: Mapping[str, float] = field(default_factory=dict)  # as in judging.Look
    details: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


async def look(*signs: Sign) -> Seen:
    """Give the looker's own signs of life, then look. Takes little more than 5 s at most."""
    database, valkey = await asyncio.gather(_in_time(_ask_database(signs)), _in_time(_ask_valkey()))
    answers = {"database": database, "valkey": valkey}
    troubles = {server: answer for server, answer in answers.items() if isinstance(answer, str)}
    known = Seen({}, {}) if isinstance(database, str) else database
    return replace(known, troubles=troubles, ages={**known.ages, **dict.fromkeys(answers.keys() - troubles, 0.0)})


async def _in_time(asking: Awaitable[T]) -> T | str:
    """The answer, or what stood in its way. What hangs is left to end by itself, which psycopg takes 10 s for."""
    task = asyncio.ensure_future(asking)
    try:
        await asyncio.wait({task}, timeout=ANSWER_WITHIN)
        if task.done():
            return task.result()
    except (psycopg.Error, RedisError, OSError) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        task.cancel()
    return f"no answer within {ANSWER_WITHIN:g} s"


async def _ask_valkey() -> None:
    client = redis.asyncio.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=ANSWER_WITHIN,
        socket_connect_timeout=ANSWER_WITHIN,
        retry=Retry(NoBackoff(), 0),
    )
    async with client:
        await client.set(VALKEY_KEY, 1, ex=60)  # one whose memory is full answers a ping


async def _ask_database(signs: tuple[Sign, ...]) -> Seen:
    """On a connection of its own: that one can be had is a part of the question."""
    parameters = django_connection.get_connection_params()
    for django_only in ("cursor_factory", "context"):
        parameters.pop(django_only)
    offset = {"offset": clock.offset()}
    async with await psycopg.AsyncConnection.connect(**parameters, autocommit=True) as connection:
        await _check_writable(connection)
        for sign in signs:
            await connection.execute(BEAT, sign.parameters())
        rows = await (await connection.execute(_AGES, offset)).fetchall()
        schedule = await (await connection.execute(_SCHEDULE, offset)).fetchone()
    ages = {rule.part: inf for rule in RULES if not rule.is_server}
    # Nothing that waits is no silence.
    ages |= {"deliveries": 0.0, "morning": _overdue(*schedule) if schedule else 0.0}
    ages |= {name: age for name, age, *_ in rows if age is not None}
    unbroken = {name: seconds for name, _, seconds, _ in rows if seconds is not None}
    details = {name: detail for name, *_, detail in rows if detail}
    return Seen({}, ages, unbroken, details)


async def _check_writable(connection: psycopg.AsyncConnection[Any]) -> None:
    """A standby answers whatever only reads."""
    read_only = await (await connection.execute("SHOW transaction_read_only")).fetchone()
    if read_only == ("on",):
        raise psycopg.errors.ReadOnlySqlTransaction("it takes no writes")


def _overdue(at: datetime, send_at: Any, latest_after: Any, is_enabled: Any, effective_from: Any, dates: Any) -> float:
    """For how many seconds today's broadcast has been due without having a row; what became of it is not asked here."""
    schedule = DailySchedule(
        send_at=send_at, latest_after=latest_after, is_enabled=is_enabled, effective_from=effective_from
    )
    day: date = clock.local_date(at)
    is_wanted = schedule.is_due(at=at) or schedule.is_missed(day, at=at)
    return (at - schedule.hour_on(day)).total_seconds() if is_wanted and day not in (dates or []) else 0.0

"""Calls to a database that does not answer: repeated, and never more at a time than there are places."""

import asyncio
import threading

import pytest
from django.db import OperationalError, connection

from subscribers.bot import database as module
from subscribers.bot.database import AT_A_TIME, Database

pytestmark = pytest.mark.django_db(transaction=True)


def at_work() -> int:
    return [thread.name for thread in threading.enumerate()].count("database")


async def test_what_is_given_up_keeps_its_place_until_the_database_lets_go() -> None:
    database, thaw = Database(), threading.Event()

    for _ in range(3 * AT_A_TIME):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await database.call(thaw.wait)
    most = at_work()
    thaw.set()

    assert most == AT_A_TIME
    assert await database.call(lambda: "answered") == "answered"


async def test_a_statement_that_waits_for_too_long_is_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ANSWER_WITHIN", 1)
    seconds = iter([60, 0])

    def sleep() -> str:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(%s)", [next(seconds)])
        return "answered"

    assert await asyncio.wait_for(Database().call(sleep), 30) == "answered"


async def test_an_abandoned_call_that_fails_later_frees_its_place_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    database, dies = Database(), threading.Event()

    def die() -> None:
        dies.wait()
        raise OperationalError

    for _ in range(AT_A_TIME):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await database.call(die)
    dies.set()

    assert await database.call(lambda: "answered") == "answered"
    assert [record.name for record in caplog.records if record.name == "asyncio"] == []

import asyncio
import threading
from time import sleep

import pytest
from django.db import connection

from delivery.database_thread import DatabaseThread

pytestmark = pytest.mark.django_db(transaction=True)


def backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        pid: int = cursor.fetchone()[0]
    return pid


def is_alive(pid: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", [pid])
        return cursor.fetchone() is not None


def test_everything_runs_on_one_connection_of_its_own_that_is_closed_at_the_end() -> None:
    async def use() -> list[int]:
        async with DatabaseThread() as database:
            return [await database.run(backend) for _ in range(3)]

    pids = asyncio.run(use())

    assert len(set(pids)) == 1
    assert pids[0] != backend()
    for _ in range(100):
        if not is_alive(pids[0]):
            break
        sleep(0.02)
    assert not is_alive(pids[0])


def test_the_loop_goes_on_while_a_statement_runs_and_statements_wait_for_each_other() -> None:
    events: list[str] = []

    def slow(name: str) -> None:
        events.append(f"{name} begins")
        sleep(0.1)
        events.append(f"{name} ends")

    async def use() -> None:
        async with DatabaseThread() as database:
            both = asyncio.gather(database.run(slow, "first"), database.run(slow, "second"))
            await asyncio.sleep(0.02)
            events.append("the loop goes on")
            await both

    asyncio.run(use())

    assert events == ["first begins", "the loop goes on", "first ends", "second begins", "second ends"]


def test_an_error_reaches_the_caller_and_the_thread_goes_on() -> None:
    def fail() -> None:
        raise LookupError

    async def use() -> int:
        async with DatabaseThread() as database:
            with pytest.raises(LookupError):
                await database.run(fail)
            return await database.run(threading.get_ident)

    assert asyncio.run(use()) != threading.get_ident()

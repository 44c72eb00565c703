"""The right to poll: one process at a time has it, by an advisory lock that PostgreSQL takes back at its death."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NoReturn

import psycopg
from django.db import connection as django_connection

logger = logging.getLogger(__name__)

KEY = 1024  # of the advisory lock: one database serves one bot
ASK_EVERY = 1.0  # seconds
LOOK_EVERY = 1.0  # seconds
ANSWER_WITHIN = 10.0  # seconds; a frozen database does not close its connections
# A host that vanished would keep the lock for two hours by the system's own defaults.
KEEP_ALIVE = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"


class LockLost(Exception):
    """The connection that holds the lock is gone, or does not answer: somebody else may be polling."""


class PollingLock:
    def __init__(self, connection: psycopg.AsyncConnection) -> None:
        self._connection = connection

    async def watch(self) -> NoReturn:
        """Look at the lock's connection again and again.

        Raises:
            LockLost: as soon as that is known.
        """
        while True:
            await asyncio.sleep(LOOK_EVERY)
            try:
                async with asyncio.timeout(ANSWER_WITHIN):
                    await self._connection.execute("SELECT 1")
            except (psycopg.Error, TimeoutError) as error:
                raise LockLost(type(error).__name__) from None


@asynccontextmanager
async def polling_lock() -> AsyncIterator[PollingLock]:
    """Wait for the lock, saying so once, and hold it.

    Raises:
        LockLost: the database cannot be reached.
    """
    connection = await _connect()
    try:
        await _acquire(connection)
        yield PollingLock(connection)
    finally:
        await connection.close()


async def _connect() -> psycopg.AsyncConnection:
    """A connection of the lock's own: Django's are closed after each call."""
    parameters = django_connection.get_connection_params()
    for django_only in ("cursor_factory", "context"):
        parameters.pop(django_only)
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            return await psycopg.AsyncConnection.connect(**parameters, autocommit=True)
    except (psycopg.Error, TimeoutError) as error:
        raise LockLost(type(error).__name__) from None


async def _acquire(connection: psycopg.AsyncConnection) -> None:
    is_told = False
    try:
        await connection.execute(KEEP_ALIVE)
        while not await _try(connection):
            if not is_told:
                logger.info("Another run_bot is at work on this database: waiting for its end")
                is_told = True
            await asyncio.sleep(ASK_EVERY)
    except (psycopg.Error, TimeoutError) as error:
        raise LockLost(type(error).__name__) from None


async def _try(connection: psycopg.AsyncConnection) -> bool:
    async with asyncio.timeout(ANSWER_WITHIN):
        cursor = await connection.execute("SELECT pg_try_advisory_lock(%s)", [KEY])
        row = await cursor.fetchone()
    return bool(row and row[0])

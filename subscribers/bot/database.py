"""The ORM for an event loop: each call in a thread of its own, repeated until the database answers."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from threading import Thread
from typing import ParamSpec, TypeVar

from django.db import connection, connections

from posts.database_away import DATABASE_AWAY

logger = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")

AT_A_TIME = 4  # each call has a connection; one that waits for a lock must not stop the others
ANSWER_WITHIN = 15  # seconds, each statement: one that waits for a lock for longer begins anew
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 15.0  # seconds


class Database:
    def __init__(self) -> None:
        self._places = asyncio.Semaphore(AT_A_TIME)

    async def call(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function, again and again while the database is away: it must bear to be repeated."""
        pause = FIRST_PAUSE
        while True:
            await self._places.acquire()
            # A task of its own: whoever gives up waiting does not free the place, which a thread and a connection take.
            work = asyncio.create_task(self._in_place(partial(function, *args, **kwargs)))
            work.add_done_callback(_note_error)
            await asyncio.wait({work})
            try:
                return work.result()
            except DATABASE_AWAY as error:
                if pause == FIRST_PAUSE:
                    logger.warning("The database does not answer (%s): trying again", type(error).__name__)
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)

    async def _in_place(self, work: Callable[[], R]) -> R:
        try:
            return await asyncio.wrap_future(_in_thread(work))
        finally:
            self._places.release()


def _note_error(work: asyncio.Task[R]) -> None:
    """The event loop complains of errors that nobody looked at; those of abandoned work are nobody's."""
    if not work.cancelled():
        work.exception()


def _in_thread(work: Callable[[], R]) -> Future[R]:
    """Do the work in a daemon thread: one that a frozen database holds must not hold the end of the process."""
    future: Future[R] = Future()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET statement_timeout = %s", [f"{ANSWER_WITHIN}s"])
            result = work()
        except Exception as error:  # noqa: BLE001 - whoever awaits it gets it
            connections.close_all()
            future.set_exception(error)
        else:
            connections.close_all()
            future.set_result(result)

    Thread(target=run, name="database", daemon=True).start()
    return future

"""The database for a thread that must not hang where it hangs: a frozen server takes connections, and never answers."""

import logging
import os
import socket
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from time import monotonic
from typing import Any, TypeVar

from django.db import Error, InterfaceError, InternalError, OperationalError, connection

logger = logging.getLogger(__name__)

R = TypeVar("R")

AWAY = (OperationalError, InterfaceError, InternalError, TimeoutError, RuntimeError)
ANSWERS_WITHIN = AGAIN_AFTER = 5.0  # seconds


class DatabaseAway(Exception):
    """It did not answer, or not in time, or did not take what it was given."""


class Database:
    """For one thread; each call has a connection and a thread of its own, at most one at a time."""

    def __init__(self) -> None:
        self._thread: Thread | None = None
        self._again_at = 0.0  # by the monotonic clock

    def call(self, work: Callable[[], R]) -> R:
        """What the work returns, which must be one transaction.

        When its time is over its connection is cut on this side: what froze in its midst is not committed at the thaw,
        unless its commit was on its way already.

        Raises:
            DatabaseAway: at once, for a few seconds after the last time, and while that call waits for its connection.
        """
        if monotonic() < self._again_at or (self._thread and self._thread.is_alive()):
            raise DatabaseAway
        try:
            return self._call(work)
        except (Error, TimeoutError, RuntimeError) as error:  # the last: no thread begins at the end of a process
            if not isinstance(error, AWAY):  # people are told all the same; the fault is ours
                logger.warning("The database does not take the alerts: %s", type(error).__name__, exc_info=error)
            self._again_at = monotonic() + AGAIN_AFTER
            raise DatabaseAway(type(error).__name__) from error

    def _call(self, work: Callable[[], R]) -> R:
        future: Future[R] = Future()
        ways_out: list[socket.socket] = []
        self._thread = Thread(target=_do, args=(work, future, ways_out), name="alerts-database", daemon=True)
        self._thread.start()
        try:
            return future.result(ANSWERS_WITHIN)
        except TimeoutError:
            for way_out in ways_out:
                with suppress(OSError):  # it has just ended
                    way_out.shutdown(socket.SHUT_RDWR)
            raise


def _do(work: Callable[[], Any], future: Future[Any], ways_out: list[socket.socket]) -> None:
    try:
        connection.ensure_connection()
        # A descriptor of our own: the connection's may be closed, and its number given to another socket.
        with socket.socket(fileno=os.dup(connection.connection.fileno())) as way_out:
            ways_out.append(way_out)
            future.set_result(work())
    except Exception as error:  # noqa: BLE001 -- whoever waits for it gets it
        future.set_exception(error)
    finally:
        connection.close()

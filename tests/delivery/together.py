"""Several threads at one moment, each with a database connection of its own."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import sleep
from typing import TypeVar

from django.db import connection
from django.utils import translation

T = TypeVar("T")


def together(*acts: Callable[[], T]) -> list[T]:
    """Begin all the acts at once, in the caller's language, and return what each returned, in their order."""
    start, language = Barrier(len(acts)), translation.get_language()

    def run(act: Callable[[], T]) -> T:
        try:
            connection.ensure_connection()
            start.wait(10)
            with translation.override(language):
                return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as threads:
        return list(threads.map(run, acts))


def waits_for_lock() -> bool:
    """Whether, within 5 s, another connection comes to wait for a lock: ours, where nobody else holds one."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with connection.cursor() as cursor:
        for _ in range(100):
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(waiting)
            if cursor.fetchone() != (0,):
                return True
            sleep(0.05)
    return False

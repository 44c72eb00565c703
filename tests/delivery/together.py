"""Several threads at one moment, each with a database connection of its own."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connection

T = TypeVar("T")


def together(*acts: Callable[[], T]) -> list[T]:
    """Begin all the acts at once, and return what each returned, in their order."""
    start = Barrier(len(acts))

    def run(act: Callable[[], T]) -> T:
        try:
            connection.ensure_connection()
            start.wait(10)
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as threads:
        return list(threads.map(run, acts))

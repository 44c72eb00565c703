"""Celery beat's scheduler: it gives signs of life, and outlives a database that is away, or takes no writes."""

import logging
from math import inf
from time import monotonic, sleep
from typing import Any

from django.db import connection
from django_celery_beat.schedulers import DatabaseScheduler

from donate1024.watch.heartbeats import Sign, give
from posts.database_away import DATABASE_AWAY

logger = logging.getLogger(__name__)

AGAIN_AFTER = 5.0  # seconds
SIGN_EVERY = 10.0  # seconds


class Scheduler(DatabaseScheduler):  # type: ignore[misc]  # the library ships no types
    _signed_at = -inf

    def setup_schedule(self) -> None:
        """Wait for the database: its rows are the schedule."""
        while True:
            try:
                return super().setup_schedule()  # type: ignore[no-any-return]
            except DATABASE_AWAY as error:
                _note(error)
                self._initial_read = True  # the library takes the first try for a success
                sleep(AGAIN_AFTER)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send what is due; returns for how many seconds nothing more is.

        The library reads its rows anew every five minutes, and ends the process when it cannot.
        """
        try:
            pause: float = super().tick(*args, **kwargs)
            self._give_sign()
        except DATABASE_AWAY as error:
            _note(error)
            return AGAIN_AFTER
        return pause

    def _give_sign(self) -> None:
        if monotonic() - self._signed_at > SIGN_EVERY:
            give(Sign("beat"))
            self._signed_at = monotonic()


def _note(error: Exception) -> None:
    logger.warning("Beat waits for the database: %s", error)
    connection.close()

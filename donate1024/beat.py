"""Celery beat's scheduler, which outlives a database that is away."""

import logging
from typing import Any

from django.db import InterfaceError, OperationalError, connection
from django_celery_beat.schedulers import DatabaseScheduler

logger = logging.getLogger(__name__)

AGAIN_AFTER = 5.0  # seconds


class Scheduler(DatabaseScheduler):  # type: ignore[misc]  # the library ships no types
    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send what is due; returns for how many seconds nothing more is.

        The library reads its rows anew every five minutes, and ends the process when it cannot.
        """
        try:
            pause: float = super().tick(*args, **kwargs)
        except (OperationalError, InterfaceError) as error:
            logger.warning("Beat waits for the database: %s", error)
            connection.close()
            return AGAIN_AFTER
        return pause

"""Putting slices into the queue: only a hurry, since the sweep does it again each minute."""

import logging
from collections.abc import Iterable

from celery import current_app
from django.conf import settings
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)

EXPIRES = 60  # seconds: an older message says nothing that the next sweep will not say


def enqueue_slices(broadcast_id: int) -> None:
    """Ask for a slice in every slot; where one runs already, the second one ends at once."""
    _enqueue(broadcast_id, range(settings.TELEGRAM_SENDERS))


def enqueue_slice(broadcast_id: int, *, slot: int) -> None:
    """Ask for a slice in one slot."""
    _enqueue(broadcast_id, [slot])


def _enqueue(broadcast_id: int, slots: Iterable[int]) -> None:
    """Put nothing more into a queue that is away, and say so in one line: the caller has other things to do."""
    try:
        for slot in slots:
            current_app.send_task(
                "delivery.send_slice", kwargs={"broadcast_id": broadcast_id, "slot": slot}, expires=EXPIRES
            )
    except OperationalError as error:
        logger.warning("the queue is out of reach, broadcast %s waits for the next sweep: %s", broadcast_id, error)

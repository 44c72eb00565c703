"""Putting slices into the queue: only a hurry, since the sweep does it again each minute."""

from celery import current_app
from django.conf import settings

EXPIRES = 60  # seconds: an older message says nothing that the next sweep will not say


def enqueue_slices(broadcast_id: int) -> None:
    """Ask for a slice in every slot; where one runs already, the second one ends at once."""
    for slot in range(settings.TELEGRAM_SENDERS):
        enqueue_slice(broadcast_id, slot=slot)


def enqueue_slice(broadcast_id: int, *, slot: int) -> None:
    current_app.send_task("delivery.send_slice", kwargs={"broadcast_id": broadcast_id, "slot": slot}, expires=EXPIRES)

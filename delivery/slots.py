"""Who may run a slice: as many at a time, over all workers, as there are slots."""

import asyncio

from delivery import statements, sweeping
from delivery.database_thread import close_connection
from delivery.models import SenderSlot
from delivery.sending import run_slice
from delivery.slices import enqueue_slice
from posts import clock

_TAKE_SLOT = """
INSERT INTO delivery_senderslot (number, busy_until) VALUES (%(slot)s, now() + %(offset)s + interval '40 seconds')
ON CONFLICT (number) DO UPDATE SET busy_until = excluded.busy_until
WHERE delivery_senderslot.busy_until <= now() + %(offset)s
"""


def work_slot(slot: int, *, broadcast_id: int) -> None:
    """Run one slice, unless the slot has one; then leave a successor, or close what is done."""
    if not _take(slot):
        return
    # Idle all the while, it would not outlive a restart of PostgreSQL: the slot would stay taken until it lapses.
    close_connection()
    is_left = asyncio.run(run_slice(broadcast_id))
    _release(slot)
    if is_left:
        enqueue_slice(broadcast_id, slot=slot)
    else:
        at = clock.now()
        sweeping.skip_left(at=at)
        sweeping.close_if_done(broadcast_id, at=at)


def _take(slot: int) -> bool:
    """It lapses after 40 s: a killed slice blocks its slot no longer, and two in one slot would be harmless."""
    return bool(statements.change(_TAKE_SLOT, slot=slot))


def _release(slot: int) -> None:
    SenderSlot.objects.filter(number=slot).update(busy_until=clock.now())

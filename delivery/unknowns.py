"""What a person says of messages of which nobody knows whether they arrived; the machine never decides that."""

import logging
from datetime import datetime

from django.db import transaction
from django.db.models import Subquery
from django.utils.translation import gettext as _

from delivery import history, locks, reasons
from delivery.history import Change
from delivery.models import Broadcast, Delivery, DeliveryQuerySet, SendingLock
from delivery.planning import midnight_after
from delivery.refusals import CannotChange
from delivery.slices import enqueue_slices
from posts import clock

logger = logging.getLogger(__name__)


@transaction.atomic
def confirm_arrived(broadcast: Broadcast, chosen: DeliveryQuerySet, *, reason: str, by: str, at: datetime) -> int:
    """Record that the chosen unknown messages of the broadcast arrived. Returns how many.

    Raises:
        CannotChange: if no reason is given.
    """
    _need_reason(reason)
    word = f"{reasons.CONFIRMED_BY_HAND}: {reason}"[:200]
    count = chosen.filter(broadcast=broadcast).unknown().update(status=Delivery.Status.SENT, reason=word, settled_at=at)
    if count:
        history.note(Change.What.ARRIVED, broadcast_id=broadcast.pk, by=by, reason=f"{count}: {reason}")
    return count


@transaction.atomic
def send_again(broadcast: Broadcast, chosen: DeliveryQuerySet, *, reason: str, by: str, at: datetime) -> int:
    """Send the chosen unknown messages of today's broadcast again, knowing that they may arrive twice.

    A late answer to the first call does not count any more. It goes on until midnight at the latest. Returns how many.

    Raises:
        CannotChange: if no reason is given, its day is over, it was stopped for good, or all sending is locked.
    """
    _need_reason(reason)
    if (lock := SendingLock.load()).is_locked:
        raise CannotChange(locks.in_full(lock))
    if broadcast.date != clock.local_date(at):
        raise CannotChange(_("the day of this broadcast, %s, is over") % broadcast.date)
    # The rows before the broadcast, as whoever records a late answer: the other way round both could wait for ever.
    count = _make_pending(chosen.filter(broadcast=broadcast).unknown(), of=broadcast, at=at)
    held = Broadcast.objects.select_for_update(of=["self"]).get(pk=broadcast.pk)
    if held.status in (Broadcast.Status.CANCELLED, Broadcast.Status.EXPIRED):
        raise CannotChange(_("this broadcast is %s already") % held.get_status_display())
    if not count:
        return 0
    _let_run(held)
    history.note(Change.What.SENT_AGAIN, broadcast_id=broadcast.pk, by=by, reason=f"{count}: {reason}")
    transaction.on_commit(lambda: enqueue_slices(broadcast.pk), robust=True)
    logger.info("%s unknown deliveries of broadcast %s are sent again by hand", count, broadcast.pk)
    return count


def _make_pending(unknown: DeliveryQuerySet, *, of: Broadcast, at: datetime) -> int:
    return unknown.update(
        status=Delivery.Status.PENDING,
        reason="",
        settled_at=None,
        token=None,
        perhaps_out=True,
        not_before=at,
        revision=Subquery(Broadcast.objects.filter(pk=of.pk).values("revision")),
    )


def _let_run(held: Broadcast) -> None:
    if held.status == Broadcast.Status.FINISHED:
        held.status = Broadcast.Status.SENDING
    held.run_until = midnight_after(held.date)
    held.save(update_fields=["status", "run_until"])


def _need_reason(reason: str) -> None:
    if not reason.strip():
        raise CannotChange(_("say why: the reason is what the others will read"))

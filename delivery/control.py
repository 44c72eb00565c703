"""What a person does to a broadcast: pause, resume, cancel, skip."""

import logging
from datetime import date, datetime

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest
from django.utils.translation import gettext as _

from delivery import brakes, reasons, sweeping
from delivery.models import Broadcast, DailySchedule
from delivery.planning import midnight_after
from delivery.slices import enqueue_slices
from posts import clock

logger = logging.getLogger(__name__)


class CannotChange(Exception):
    """Why the broadcast stays as it is; the text is for people."""


def pause(broadcast: Broadcast) -> None:
    """Stop claiming at once; the few calls already on their way are answered and recorded.

    Raises:
        CannotChange: if it does not run.
    """
    if not brakes.pause(broadcast.pk, reason=reasons.PAUSED_BY_HAND):
        raise CannotChange(_("only a running broadcast can be paused; this one is %s") % _state_of(broadcast))


def resume(broadcast: Broadcast, *, at: datetime) -> None:
    """Go on, until midnight at the latest: first one message as a probe, then the rest.

    Raises:
        CannotChange: if it is not paused, or its day is over.
    """
    if broadcast.date != clock.local_date(at):
        raise CannotChange(_("the day of this broadcast, %s, is over") % broadcast.date)
    with transaction.atomic():
        paused = Broadcast.objects.filter(pk=broadcast.pk, status=Broadcast.Status.PAUSED)
        if not paused.update(
            status=Broadcast.Status.SENDING,
            reason="",
            hold_until=Greatest(F("hold_until"), at),  # Telegram's own wait is not shortened
            probe_until=None,
            begin_until=None,
            run_until=midnight_after(broadcast.date),
        ):
            raise CannotChange(_("only a paused broadcast can be resumed; this one is %s") % _state_of(broadcast))
        transaction.on_commit(lambda: enqueue_slices(broadcast.pk), robust=True)
    logger.info("broadcast %s resumed by hand", broadcast.pk)


def cancel(broadcast: Broadcast, *, at: datetime) -> None:
    """Stop for good: what is pending is skipped. What was sent stays sent.

    Raises:
        CannotChange: if it is over already.
    """
    if (
        not Broadcast.objects.unfinished()
        .filter(pk=broadcast.pk)
        .update(status=Broadcast.Status.CANCELLED, reason=reasons.CANCELLED_BY_HAND)
    ):
        raise CannotChange(_("this broadcast is %s already") % _state_of(broadcast))
    sweeping.skip_leftovers(at=at)
    logger.info("broadcast %s cancelled by hand", broadcast.pk)


def skip(day: date, *, reason: str, at: datetime) -> Broadcast:
    """Take a date, so that nothing is planned on it.

    Raises:
        CannotChange: if the date is past, has its broadcast, or no reason is given.
    """
    if not reason.strip():
        raise CannotChange("say why: the reason is what the others will read")
    if day < clock.local_date(at):
        raise CannotChange(f"{day} is past")
    DailySchedule.load()
    with transaction.atomic():
        DailySchedule.objects.select_for_update().get()  # nobody plans the day meanwhile
        broadcast, is_new = Broadcast.objects.get_or_create(
            date=day, defaults={"status": Broadcast.Status.SKIPPED, "reason": reason[:200]}
        )
    if not is_new:
        raise CannotChange(f"the broadcast of {day} is {broadcast.status} already")
    return broadcast


def _state_of(broadcast: Broadcast) -> str:
    broadcast.refresh_from_db(fields=["status"])
    return broadcast.get_status_display()

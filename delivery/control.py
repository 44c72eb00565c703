"""What a person does to a broadcast: pause, resume, cancel, skip, take the skip back."""

import logging
from datetime import date, datetime

from django.db import transaction
from django.db.models.functions import Greatest
from django.utils.translation import gettext as _

from delivery import brakes, history, locks, reasons, sweeping
from delivery.history import Change
from delivery.models import Broadcast, DailySchedule, SendingLock
from delivery.planning import condition_of, midnight_after
from delivery.refusals import CannotChange
from delivery.slices import enqueue_slices
from posts import clock

logger = logging.getLogger(__name__)


def pause(broadcast: Broadcast, *, by: str) -> None:
    """Stop claiming at once; the few calls already on their way are answered and recorded.

    Raises:
        CannotChange: if it does not run.
    """
    if not brakes.pause(broadcast.pk, reason=reasons.PAUSED_BY_HAND, by=by):
        raise CannotChange(_("only a running broadcast can be paused; this one is %s") % _state_of(broadcast))


@transaction.atomic
def resume(broadcast: Broadcast, *, by: str, at: datetime) -> None:
    """Go on, until midnight at the latest: first one message as a probe, then the rest.

    Where it was paused because too many chats did not know the bot, that is taken for true from now on.

    Raises:
        CannotChange: if it is not paused, its day is over, or all sending is locked.
    """
    if broadcast.date != clock.local_date(at):
        raise CannotChange(_("the day of this broadcast, %s, is over") % broadcast.date)
    if (lock := SendingLock.load()).is_locked:
        raise CannotChange(locks.in_full(lock))
    paused = Broadcast.objects.select_for_update(of=["self"]).filter(pk=broadcast.pk, status=Broadcast.Status.PAUSED)
    held = paused.first()
    if held is None:
        raise CannotChange(_("only a paused broadcast can be resumed; this one is %s") % _state_of(broadcast))
    paused.update(
        status=Broadcast.Status.SENDING,
        reason="",
        gone_confirmed=held.gone_confirmed or held.reason == reasons.WRONG_BOT,
        hold_until=Greatest("hold_until", at),  # Telegram's own wait is not shortened
        holds_in_a_row=0,
        probe_until=None,
        begin_until=None,
        run_until=midnight_after(broadcast.date),
    )
    history.note(Change.What.RESUMED, broadcast_id=broadcast.pk, by=by, reason=held.reason)
    transaction.on_commit(lambda: enqueue_slices(broadcast.pk), robust=True)
    logger.info("broadcast %s resumed by hand", broadcast.pk, extra={"closes": brakes.condition_of(broadcast.date)})


@transaction.atomic
def cancel(broadcast: Broadcast, *, by: str, at: datetime) -> None:
    """Stop for good: what is pending is skipped. What was sent stays sent.

    Raises:
        CannotChange: if it is over already.
    """
    unfinished = Broadcast.objects.unfinished().filter(pk=broadcast.pk)
    if not unfinished.update(status=Broadcast.Status.CANCELLED, reason=reasons.CANCELLED_BY_HAND):
        raise CannotChange(_("this broadcast is %s already") % _state_of(broadcast))
    history.note(Change.What.CANCELLED, broadcast_id=broadcast.pk, by=by)
    sweeping.skip_leftovers(at=at)
    logger.info("broadcast %s cancelled by hand", broadcast.pk, extra={"closes": brakes.condition_of(broadcast.date)})


@transaction.atomic
def skip(day: date, *, reason: str, by: str, at: datetime) -> Broadcast:
    """Take a date, so that nothing is planned on it; a missed one too, of which nothing went out.

    Raises:
        CannotChange: if the date is past, has its broadcast, or no reason is given.
    """
    if not reason.strip():
        raise CannotChange(_("say why: the reason is what the others will read"))
    if day < clock.local_date(at):
        raise CannotChange(_("%s is past") % day)
    DailySchedule.load()
    DailySchedule.objects.select_for_update().get()  # nobody plans the day meanwhile
    broadcast = Broadcast.objects.filter(date=day).first() or Broadcast(date=day)
    if broadcast.pk and not broadcast.is_free:
        state = broadcast.get_status_display()
        raise CannotChange(_("the broadcast of %(day)s is %(state)s already") % {"day": day, "state": state})
    # `unskip` must still know it: what people may have never goes out a second time by itself.
    is_elsewhere = broadcast.reason == reasons.SENT_ELSEWHERE
    broadcast.reason = (f"{reasons.SENT_ELSEWHERE}: {reason}" if is_elsewhere else reason)[:200]
    broadcast.status = Broadcast.Status.SKIPPED
    extra = {"closes": condition_of(day)} if broadcast.pk else None  # a person knows of the missed one
    broadcast.save()
    history.note(Change.What.SKIPPED, broadcast_id=broadcast.pk, by=by, reason=reason)
    logger.info("%s is skipped by hand", day, extra=extra)
    return broadcast


@transaction.atomic
def unskip(day: date, *, by: str, at: datetime) -> None:
    """Give a skipped date back: its hour counts again, and inside its window it goes out at the next tick.

    What another copy of this database began goes out by a person's word only, as before the skip.

    Raises:
        CannotChange: if the date is past, or not skipped.
    """
    if day < clock.local_date(at):
        raise CannotChange(_("%s is past") % day)
    skipped = Broadcast.objects.filter(date=day, status=Broadcast.Status.SKIPPED)
    elsewhere = skipped.filter(reason__startswith=reasons.SENT_ELSEWHERE)
    is_kept = elsewhere.update(status=Broadcast.Status.EXPIRED, reason=reasons.SENT_ELSEWHERE)
    if not is_kept and not skipped.delete()[0]:
        raise CannotChange(_("%s is not skipped") % day)
    history.note(Change.What.UNSKIPPED, broadcast_id=None, by=by, reason=str(day))


def _state_of(broadcast: Broadcast) -> str:
    broadcast.refresh_from_db(fields=["status"])
    return broadcast.get_status_display()

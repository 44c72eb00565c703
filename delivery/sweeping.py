"""The sweep: each minute it puts right whatever a kill, a lost message or a person left behind."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import ParamSpec

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Coalesce
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _, gettext_noop

from delivery import brakes, history, ledger, reasons, statements
from delivery.history import Change
from delivery.models import Broadcast, DailySchedule, Delivery
from delivery.slices import enqueue_slices
from posts import clock
from posts.models import Fundraiser
from subscribers.models import Subscriber

logger = logging.getLogger(__name__)

P = ParamSpec("P")

# A /start so shortly before the plan may have been committed after the recipients were read.
NEWCOMER_MARGIN = timedelta(minutes=10)
MAY_COME_BACK = [reasons.LEFT, reasons.BLOCKED, reasons.DEACTIVATED, reasons.UNREACHABLE, reasons.NOT_STARTED]

# By whether there was anybody to write to.
NOBODY_GOT_IT = {
    True: gettext_noop(
        "Nobody is known to have got the fundraiser of %s. Its broadcast is finished. "
        "What to do: look at its deliveries, each says why."
    ),
    False: gettext_noop(
        "Nobody is subscribed yet, so nobody got the fundraiser of %s. Whoever joins before the quiet hour still gets "
        "it. What to do: tell people about the bot."
    ),
}


def sweep(*, at: datetime) -> None:
    """Bring every broadcast forward.

    Each step is harmless alone, repeated, or run twice at once. One that fails is told, and stops no other.
    """
    _attempt(_("messages without an answer still count as on their way"), expire_sending, at=at)
    _attempt(_("what an earlier day left open is not closed"), expire_past, at=at)
    _attempt(_("a finished broadcast does not go on for those who came late"), reopen_finished)
    _attempt(_("people who left still count as waiting for today's fundraiser"), skip_left, at=at)
    _attempt(_("people still count as waiting for a broadcast that is over"), skip_leftovers, at=at)
    _attempt(_("today's broadcast is not paused at its quiet hour"), pause_at_quiet_hour, at=at)
    _attempt(_("a broadcast that is late is not paused to ask a person"), pause_late_starts, at=at)
    _attempt(_("whoever has subscribed since the morning does not get today's fundraiser"), add_newcomers, at=at)
    for broadcast in Broadcast.objects.unfinished():
        _attempt(_("today's broadcast may stand still, or stay open when all have it"), go_on, broadcast, at=at)


def _attempt(if_not: Promise | str, step: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
    try:
        step(*args, **kwargs)
    except Exception:
        connection.close_if_unusable_or_obsolete()
        connection.ensure_connection()  # a PostgreSQL that is away fails every step: its own error says so, once
        logger.exception(
            gettext_noop(
                "A part of the upkeep of each minute failed: %s. The other parts were done, and it is tried again. "
                "What to do: if it goes on, tell whoever keeps the program."
            ),
            if_not,
        )


def expire_sending(*, at: datetime) -> None:
    """Whoever held these is gone, and took the answer along: perhaps sent, and never sent again by itself."""
    old = Delivery.objects.filter(status=Delivery.Status.SENDING, claimed_at__lt=at - ledger.SENDING_TIMEOUT)
    for broadcast_id in old.values_list("broadcast_id", flat=True).distinct():
        brakes.count_showing(broadcast_id)
    count = old.update(status=Delivery.Status.UNKNOWN, reason=reasons.NO_ANSWER_RECORDED, settled_at=at)
    if count:
        logger.warning("%s deliveries became unknown: their sender is gone", count)


def expire_past(*, at: datetime) -> None:
    """Close what an earlier day left open: nobody may resume it, and tomorrow's plan may be long in coming."""
    past = Broadcast.objects.filter(date__lt=clock.local_date(at))
    for broadcast_id in past.unfinished().values_list("pk", flat=True):
        close_if_done(broadcast_id, at=at)
    brakes.expire(past, reason=reasons.DAY_IS_OVER)
    # A late answer may tell, after the day, that an unknown was not sent.
    Delivery.objects.pending().filter(broadcast__in=past.filter(status=Broadcast.Status.FINISHED)).skip(
        reason=reasons.EXPIRED, at=at
    )


def reopen_finished() -> None:
    """Go on where newcomers came after the finish, or a late answer told that an unknown was not sent.

    `finished_at` keeps the first finish.
    """
    finished = Broadcast.objects.filter(status=Broadcast.Status.FINISHED).with_pending()
    finished.update(status=Broadcast.Status.SENDING)


_SKIP_LEFT = """
UPDATE delivery_delivery AS delivery
SET status = CASE WHEN delivery.perhaps_out THEN 'unknown' ELSE 'skipped' END, settled_at = %(at)s,
    reason = CASE subscriber.left_reason WHEN 'stopped' THEN 'left' ELSE subscriber.left_reason END
FROM subscribers_subscriber AS subscriber, delivery_broadcast AS broadcast
WHERE subscriber.id = delivery.subscriber_id AND subscriber.left_at IS NOT NULL
    AND broadcast.id = delivery.broadcast_id AND broadcast.status IN ('planned', 'sending')
    AND delivery.status = 'pending'
"""


def skip_left(*, at: datetime) -> None:
    """Close the rows of people who left before their turn."""
    statements.change(_SKIP_LEFT, at=at)


def skip_leftovers(*, at: datetime) -> None:
    """Close what is pending of a broadcast that will not go on."""
    for status in (Broadcast.Status.CANCELLED, Broadcast.Status.EXPIRED):
        over = Broadcast.objects.filter(status=status, pk=OuterRef("broadcast_id"))
        Delivery.objects.pending().filter(Exists(over)).skip(reason=status.value, at=at)


def pause_at_quiet_hour(*, at: datetime) -> None:
    """Stop what still waits; where only the last calls are on their way, there is nothing to ask a person.

    Nor about newcomers who came in the last minute to a broadcast that was finished: theirs begins tomorrow.
    """
    late = Broadcast.objects.running().with_pending().filter(run_until__lte=at)
    Delivery.objects.pending().filter(broadcast__in=late.exclude(finished_at=None)).skip(
        reason=reasons.QUIET_HOUR, at=at
    )
    for broadcast_id in late.values_list("pk", flat=True):
        brakes.pause(broadcast_id, reason=reasons.QUIET_HOUR)


def pause_late_starts(*, at: datetime) -> None:
    """Ask a person about a broadcast of which nothing was sent in its window: late is not night."""
    late = Broadcast.objects.running().filter(first_sent_at=None, begin_until__lte=at)
    for broadcast_id in late.values_list("pk", flat=True):
        brakes.pause(broadcast_id, reason=reasons.LATE_START)


def add_newcomers(*, at: datetime) -> None:
    """Give today's message to people who came, or came back, since it was planned; not after the quiet hour."""
    day = clock.local_date(at)
    if at >= DailySchedule.load().quiet_hour_on(day):
        return
    with transaction.atomic():
        # Held, so that nobody closes it between our look and the new rows.
        broadcast = (
            Broadcast.objects.select_for_update(of=["self"])
            .filter(date=day, status__in=[*Broadcast.RUNNING, Broadcast.Status.FINISHED])
            .filter(fundraiser__status=Fundraiser.Status.APPROVED)
            .first()
        )
        if broadcast and broadcast.planned_at:
            _add_rows(broadcast, since=broadcast.planned_at - NEWCOMER_MARGIN, at=at)
            reopen_finished()


def _add_rows(broadcast: Broadcast, *, since: datetime, at: datetime) -> None:
    newcomers = list(Subscriber.objects.newcomers(since=since).values_list("pk", flat=True))
    rows = [
        Delivery(broadcast=broadcast, subscriber_id=pk, revision=broadcast.revision, not_before=at) for pk in newcomers
    ]
    Delivery.objects.bulk_create(rows, ignore_conflicts=True)
    # Skipped says that nothing was sent, so whoever came back may have it.
    skipped = broadcast.deliveries.filter(status=Delivery.Status.SKIPPED, reason__in=MAY_COME_BACK)
    # Not whom Telegram refused since: they would be called again each minute.
    since_the_call = Q(claimed_at=None) | Q(subscriber__started_at__gt=F("claimed_at"))
    skipped.filter(since_the_call, subscriber__in=newcomers).update(
        status=Delivery.Status.PENDING, reason="", settled_at=None, not_before=at
    )


def go_on(broadcast: Broadcast, *, at: datetime) -> None:
    """Close it if it is done; otherwise see that somebody sends what is left."""
    if not close_if_done(broadcast.pk, at=at) and broadcast.status in Broadcast.RUNNING:
        enqueue_slices(broadcast.pk)


def close_if_done(broadcast_id: int, *, at: datetime) -> bool:
    """Finish a broadcast, running or paused, of which nothing is pending or in flight. False where something is."""
    with transaction.atomic():
        # Locked first, so that the look comes after whoever was adding newcomers.
        unfinished = Broadcast.objects.unfinished().select_for_update().filter(pk=broadcast_id)
        if not unfinished:
            return True
        if Delivery.objects.open().filter(broadcast_id=broadcast_id).exists():
            return False
        Broadcast.objects.filter(pk=broadcast_id).update(
            status=Broadcast.Status.FINISHED,
            reason="",
            finished_at=Coalesce(F("finished_at"), at),
            begin_until=None,  # newcomers may be the first to get it
            hold_until=None,
            holds_in_a_row=0,
        )
        history.note(Change.What.FINISHED, broadcast_id=broadcast_id)
    _tell_finish(unfinished[0])
    return True


def _tell_finish(broadcast: Broadcast) -> None:
    """A morning that reached nobody looks finished all the same: that is for a person, once."""
    logger.info("broadcast %s is finished", broadcast.pk, extra={"closes": brakes.condition_of(broadcast.date)})
    is_first = broadcast.finished_at is None
    has_reached_somebody = broadcast.deliveries.filter(status=Delivery.Status.SENT).exists()
    if is_first and not has_reached_somebody:
        has_recipients = broadcast.deliveries.exists()
        logger.error(NOBODY_GOT_IT[has_recipients], broadcast.date, extra={"opens": brakes.REACHED_NOBODY})
    elif has_reached_somebody and not is_first:
        extra = {"closes": brakes.REACHED_NOBODY, "over": gettext_noop("Somebody has got the fundraiser.")}
        logger.info("broadcast %s has reached somebody", broadcast.pk, extra=extra)

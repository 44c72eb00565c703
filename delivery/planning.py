"""Planning: the decision that a day's fundraiser goes out, recorded whole or not at all."""

import logging
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta

from django.db import transaction
from django.utils.translation import gettext as _, gettext_noop

from delivery import brakes, history, locks, reasons, statements, witness
from delivery.advice import what_to_do_lazily
from delivery.freezing import freeze, freeze_todays
from delivery.history import Change
from delivery.models import Broadcast, DailySchedule, Delivery
from delivery.refusals import AlreadyPlanned, CannotPlan, NotDue, NothingSendable
from delivery.slices import enqueue_slices
from posts import clock, showing

logger = logging.getLogger(__name__)

TIME_TO_BEGIN = timedelta(minutes=5)  # of a broadcast that was planned in the last moment of its window
# A row says so, and yet its hour may come: the hour was moved, a fundraiser approved, a clock that ran ahead put right.
MAY_STILL_COME = {reasons.MISSED, reasons.NOTHING_TO_SHOW}
LOOK_BACK = timedelta(days=31)  # for mornings that were missed: what is older surprises nobody any more


def plan_due_broadcast(*, at: datetime) -> Broadcast | None:
    """What the tick does: plan today's broadcast if it is due, and record the mornings that were missed.

    Two ticks at once are harmless: one of them plans, the other returns None.
    """
    schedule, day = DailySchedule.load(), clock.local_date(at)
    _record_expired(_missed_days(schedule, at=at), today=day, reason=reasons.MISSED)
    todays = Broadcast.objects.filter(date=day).first()
    if (todays and todays.reason not in MAY_STILL_COME) or not schedule.is_due(at=at):
        return None
    try:
        refuse_locked(at=at)
        return plan_broadcast(
            day=day,
            at=at,
            begin_until=schedule.latest_start_on(day) + TIME_TO_BEGIN,
            run_until=schedule.quiet_hour_on(day),
            waits=False,
        )
    except CannotPlan as reason:
        logger.info("nothing planned at this tick: %s", reason)
        return None
    except showing.NothingToShow as why:
        in_full = f"{reasons.NOTHING_TO_SHOW}: {why}" if isinstance(why, NothingSendable) else ""
        _record_expired([day], today=day, reason=reasons.NOTHING_TO_SHOW, in_full=in_full)
        return None


def start_broadcast(*, at: datetime, by: str, fundraiser_id: int | None = None, now: bool = False) -> Broadcast:
    """What a person's «start» does: plan today's broadcast as the tick would; `now` ignores the schedule.

    What a person starts may run until midnight.

    Raises:
        CannotPlan: why not.
        posts.showing.NothingToShow: if no fundraiser may be shown today.
    """
    schedule, day = DailySchedule.load(), clock.local_date(at)
    _row_of(day)  # that there is one already says more than that its hour is over
    if not now and not schedule.is_due(at=at):
        raise NotDue(_why_not_due(schedule, at))
    refuse_locked(at=at)
    return plan_broadcast(day=day, at=at, run_until=midnight_after(day), fundraiser_id=fundraiser_id, by=by)


def refuse_locked(*, at: datetime) -> None:
    """Look outside, and go on only if this database may be the only one that sends.

    Raises:
        delivery.refusals.Locked: why it may not.
    """
    locks.compare(witness.ask(), at=at)
    locks.refuse_planning(at=at)


def plan_broadcast(
    *,
    day: date,
    at: datetime,
    run_until: datetime,
    begin_until: datetime | None = None,
    fundraiser_id: int | None = None,
    by: str = "",
    waits: bool = True,
) -> Broadcast:
    """Record the day's broadcast, frozen, and one pending delivery for each active subscriber.

    All or nothing; sends nothing and calls nobody. A row of the day that expired without deliveries is taken over.

    Raises:
        AlreadyPlanned: if the day has its broadcast, or (unless it `waits`) somebody is planning it at this moment.
        NotApproved: if the named fundraiser is not approved.
        NotSendable: if its message cannot be sent as it stands.
        posts.showing.NothingToShow: if no fundraiser may be shown on the day.
    """
    with transaction.atomic():
        if DailySchedule.objects.select_for_update(skip_locked=not waits).first() is None:
            raise AlreadyPlanned(_("somebody is planning this day's broadcast at this moment"))
        broadcast = _row_of(day)
        if fundraiser_id is None:
            freeze_todays(broadcast)
        else:
            freeze(broadcast, fundraiser_id)
        _save_planned(broadcast, at=at, begin_until=begin_until, run_until=run_until)
        _add_deliveries(broadcast)
        history.note(Change.What.PLANNED, broadcast_id=broadcast.pk, by=by)
        brakes.expire(Broadcast.objects.filter(date__lt=day), reason=reasons.OVERTAKEN)
        _end_missed(before=day)
        # If the process dies between the commit and this, or Valkey is away, the sweep enqueues.
        transaction.on_commit(lambda: enqueue_slices(broadcast.pk), robust=True)
    logger.info("planned the broadcast of %s", day, extra={"closes": condition_of(day)})
    over = gettext_noop("The day on which nobody got the fundraiser is over.")
    logger.info("what came before it is over", extra={"closes": brakes.REACHED_NOBODY, "over": over})
    return broadcast


def condition_of(day: date) -> str:
    """What the alert opens that the day's hour went by, and whatever becomes of the day, or of the next one, closes."""
    return f"planning:{day}"


def midnight_after(day: date) -> datetime:
    return clock.local_moment(day + timedelta(days=1), time(0))


def _row_of(day: date) -> Broadcast:
    """A new row, or the day's row that expired before anything was planned."""
    broadcast = Broadcast.objects.filter(date=day).first()
    if broadcast is None:
        return Broadcast(date=day)
    if broadcast.is_free:
        return broadcast
    if broadcast.status == Broadcast.Status.SKIPPED:
        raise AlreadyPlanned(_("%(day)s is skipped: %(reason)s") % {"day": day, "reason": broadcast.reason})
    state = broadcast.get_status_display()
    raise AlreadyPlanned(_("the broadcast of %(day)s exists already: %(state)s") % {"day": day, "state": state})


def _save_planned(broadcast: Broadcast, *, at: datetime, begin_until: datetime | None, run_until: datetime) -> None:
    broadcast.status = Broadcast.Status.PLANNED
    broadcast.reason = ""
    broadcast.planned_at = at
    broadcast.begin_until = begin_until
    broadcast.run_until = run_until
    broadcast.save()


_ADD_DELIVERIES = """
INSERT INTO delivery_delivery (broadcast_id, channel, subscriber_id, status, reason, revision, not_before, message_id)
SELECT %(broadcast)s, %(channel)s, id, 'pending', '', %(revision)s, %(at)s, ''
FROM subscribers_subscriber WHERE left_at IS NULL
ON CONFLICT DO NOTHING
"""


def _add_deliveries(broadcast: Broadcast) -> None:
    statements.change(
        _ADD_DELIVERIES,
        broadcast=broadcast.pk,
        channel=Delivery.Channel.TELEGRAM.value,
        revision=broadcast.revision,
        at=broadcast.planned_at,
    )


def _missed_days(schedule: DailySchedule, *, at: datetime) -> list[date]:
    """The days, today included, whose hour went by since the last broadcast while nothing was at work."""
    today = clock.local_date(at)
    begin = max(clock.local_date(schedule.effective_from), today - LOOK_BACK)
    taken = set(Broadcast.objects.filter(date__gte=begin).values_list("date", flat=True))
    days = [begin + timedelta(days=number) for number in range((today - begin).days + 1)]
    return [day for day in days if day not in taken and schedule.is_missed(day, at=at)]


def _record_expired(days: Sequence[date], *, today: date, reason: str, in_full: str = "") -> None:
    """Leave rows that people see, once for a day, and one line for all: a morning without a message is no silence."""
    if not days:
        return
    with transaction.atomic():
        DailySchedule.objects.select_for_update().first()  # nobody plans the days meanwhile
        taken = set(Broadcast.objects.filter(date__in=days).values_list("date", flat=True))
        days = [day for day in days if day not in taken]
        if days:
            _end_missed(before=days[0])
        for day in days:
            row = Broadcast.objects.create(date=day, status=Broadcast.Status.EXPIRED, reason=reason)
            history.note(Change.What.EXPIRED, broadcast_id=row.pk, reason=reason)
    if today in days:
        logger.error(
            gettext_noop("No broadcast on %s: %s. Nobody got a message. What to do: %s"),
            ", ".join(map(str, days)),
            reasons.in_words_lazily(in_full or reason),
            what_to_do_lazily(reason),
            extra={"opens": condition_of(today)},
        )
    elif days:
        logger.error(
            gettext_noop(
                "No broadcast on %s: nothing was at work. Nobody got a message on those days, and nobody gets it late. "
                "What to do: nothing about them; see that everything stays switched on."
            ),
            ", ".join(map(str, days)),
        )


def _end_missed(*, before: date) -> None:
    """The last morning that was missed is over: what is told from now on is of another one."""
    if missed := Broadcast.objects.filter(date__lt=before, status=Broadcast.Status.EXPIRED).order_by("date").last():
        logger.info("the day of %s is over", missed.date, extra={"closes": condition_of(missed.date)})


def _why_not_due(schedule: DailySchedule, at: datetime) -> str:
    if not schedule.is_enabled:
        return _("sending is switched off in the daily schedule; «send now» (--now) sends today's all the same")
    day, hour = clock.local_date(at), f"{schedule.send_at:%H:%M}"
    if at < schedule.hour_on(day):
        return _("today's hour, %s, has not come; «send now» (--now) does not wait for it") % hour
    if schedule.is_missed(day, at=at):
        return _("today's hour, %s, went by; «send now» (--now) sends all the same") % hour
    return _("the schedule was changed after today's hour and counts from tomorrow; «send now» (--now) sends today's")

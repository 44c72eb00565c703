"""Planning: the decision that a day's fundraiser goes out, recorded whole or not at all."""

import logging
from datetime import date, datetime, time, timedelta

from django.core.exceptions import ValidationError
from django.db import transaction

from delivery import reasons, statements
from delivery.models import Broadcast, DailySchedule, Delivery
from delivery.slices import enqueue_slices
from posts import clock, showing
from posts.models import Fundraiser
from posts.rendering import telegram as rendering

logger = logging.getLogger(__name__)


TIME_TO_BEGIN = timedelta(minutes=5)  # of a broadcast that was planned in the last moment of its window


class CannotPlan(Exception):
    """Why the day's broadcast is not planned; the text is for people."""


class AlreadyPlanned(CannotPlan):
    """The day has its broadcast: there is never a second one."""


class NotDue(CannotPlan):
    """Sending is switched off, or its hour has not come, or went by."""


class NotApproved(CannotPlan):
    """Only what a person approved goes out."""


class NotSendable(CannotPlan):
    """What was approved was changed since, and Telegram would not take it."""


def plan_due_broadcast(*, at: datetime) -> Broadcast | None:
    """What the tick does: plan today's broadcast if it is due, or record that its hour was missed.

    Two ticks at once are harmless: one of them plans, the other returns None.
    """
    schedule, day = DailySchedule.load(), clock.local_date(at)
    todays = Broadcast.objects.filter(date=day).first()
    if todays and todays.reason != reasons.NOTHING_TO_SHOW:
        return None
    if schedule.is_missed(at=at) and not todays:
        _record_expired(day, reason=reasons.MISSED)
        return None
    if not schedule.is_due(at=at):
        return None
    try:
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
    except showing.NothingToShow:
        _record_expired(day, reason=reasons.NOTHING_TO_SHOW)
        return None


def start_broadcast(*, at: datetime, fundraiser_id: int | None = None, now: bool = False) -> Broadcast:
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
    return plan_broadcast(day=day, at=at, run_until=midnight_after(day), fundraiser_id=fundraiser_id)


def plan_broadcast(
    *,
    day: date,
    at: datetime,
    run_until: datetime,
    begin_until: datetime | None = None,
    fundraiser_id: int | None = None,
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
            raise AlreadyPlanned("somebody is planning this day's broadcast at this moment")
        broadcast = _row_of(day)
        if fundraiser_id is None:
            _freeze_todays(broadcast)
        else:
            _freeze(broadcast, fundraiser_id)
        _save_planned(broadcast, at=at, begin_until=begin_until, run_until=run_until)
        _add_deliveries(broadcast)
        Broadcast.objects.unfinished().filter(date__lt=day).update(
            status=Broadcast.Status.EXPIRED, reason=reasons.OVERTAKEN
        )
        # If the process dies between the commit and this, or Valkey is away, the sweep enqueues.
        transaction.on_commit(lambda: enqueue_slices(broadcast.pk), robust=True)
    logger.info("planned the broadcast of %s", day)
    return broadcast


def midnight_after(day: date) -> datetime:
    return clock.local_moment(day + timedelta(days=1), time(0))


def _row_of(day: date) -> Broadcast:
    """A new row, or the day's row that expired before anything was planned."""
    broadcast = Broadcast.objects.filter(date=day).first()
    if broadcast is None:
        return Broadcast(date=day)
    if broadcast.status == Broadcast.Status.EXPIRED and broadcast.fundraiser_id is None:
        return broadcast
    if broadcast.status == Broadcast.Status.SKIPPED:
        raise AlreadyPlanned(f"{day} is skipped: {broadcast.reason}")
    raise AlreadyPlanned(f"the broadcast of {day} exists already: {broadcast.get_status_display()}")


def _freeze_todays(broadcast: Broadcast) -> None:
    """Freeze whichever has its turn; one that was spoiled after its approval does not cost everybody the morning."""
    unsendable: set[int] = set()
    while True:
        choice = showing.choose(day=broadcast.date, passing_over=unsendable)
        try:
            _freeze(broadcast, choice.fundraiser.pk)
        except NotSendable as error:
            logger.error("the next one goes instead: %s", error)  # noqa: TRY400 -- for people, who read no traces
            unsendable.add(choice.fundraiser.pk)
            continue
        if choice.is_shortened:
            logger.warning("too few fundraisers: shown again after %s days", choice.cooldown_days)
        return


def _lock_fundraiser(fundraiser_id: int) -> Fundraiser:
    """The fundraiser, held against edits until the message is frozen."""
    fundraiser = Fundraiser.objects.select_for_update().filter(pk=fundraiser_id).first()
    if fundraiser is None:
        raise NotApproved(f"there is no fundraiser {fundraiser_id}")
    if fundraiser.status != Fundraiser.Status.APPROVED:
        raise NotApproved(f"fundraiser {fundraiser_id} is not approved: {fundraiser.get_status_display()}")
    return fundraiser


def _freeze(broadcast: Broadcast, fundraiser_id: int) -> None:
    fundraiser = _lock_fundraiser(fundraiser_id)
    try:
        message = rendering.render(fundraiser)
    except ValidationError as error:
        raise NotSendable(f"fundraiser {fundraiser.pk} cannot be sent: {' '.join(error.messages)}") from error
    broadcast.fundraiser = fundraiser
    broadcast.text = message.text
    broadcast.buttons = message.buttons
    broadcast.picture_id = message.picture


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


def _record_expired(day: date, *, reason: str) -> None:
    """Leave a row that people see, once for a day, so that a morning without a message is no silence."""
    defaults = {"status": Broadcast.Status.EXPIRED, "reason": reason}
    with transaction.atomic():
        DailySchedule.objects.select_for_update().first()  # nobody plans the day meanwhile
        _, is_new = Broadcast.objects.get_or_create(date=day, defaults=defaults)
    if is_new:
        logger.error("no broadcast on %s: %s", day, reason)


def _why_not_due(schedule: DailySchedule, at: datetime) -> str:
    if not schedule.is_enabled:
        return "sending is switched off in the daily schedule; --now sends today's all the same"
    hour = schedule.hour_on(clock.local_date(at))
    if at < hour:
        return f"today's hour, {schedule.send_at:%H:%M}, has not come; --now does not wait for it"
    if schedule.is_missed(at=at):
        return f"today's hour, {schedule.send_at:%H:%M}, went by; --now sends all the same"
    return "the schedule was changed after today's hour and counts from tomorrow; --now sends today's"

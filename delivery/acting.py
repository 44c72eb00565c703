"""A person's acts on a day: what is asked before each, and what is said after it."""

from datetime import date, datetime

from django.utils.translation import gettext as _, ngettext

from delivery import control, freezing, locks, planning, reasons, unknowns, witness
from delivery.advice import what_to_do
from delivery.desk import Act, Day
from delivery.models import Broadcast, Delivery, DeliveryQuerySet
from delivery.refusals import CannotChange
from posts import clock
from posts.models import Fundraiser
from subscribers.models import Subscriber


def ask(act: Act, day: Day) -> list[str]:
    """What a person should know before they do it, in paragraphs."""
    match act:
        case Act.UNLOCK:
            promise = _(
                "By unlocking you confirm that this bot and this database are the right ones, and that no other "
                "installation is at work. Nothing is sent by it: what ran stays paused."
            )
            return [locks.in_full(day.lock), promise]
        case Act.SEND_NOW:
            count = Subscriber.objects.active().count()
            goes_to = ngettext(
                "%(count)s person gets it, at once. It cannot be taken back.",
                "%(count)s people get it, at once. It cannot be taken back.",
                count,
            )
            is_elsewhere = day.broadcast is not None and day.broadcast.reason == reasons.SENT_ELSEWHERE
            told = goes_to % {"count": count} if count else _("Nobody is subscribed yet: nobody would get it.")
            return [told, *_night(day), *[what_to_do(reasons.SENT_ELSEWHERE)] * is_elsewhere]
        case Act.RESUME:
            is_wrong_bot = day.broadcast is not None and day.broadcast.reason == reasons.WRONG_BOT
            return [_waiting(day), *_night(day), *[what_to_do(reasons.WRONG_BOT)] * is_wrong_bot]
        case Act.CANCEL:
            return [_waiting(day), _("They will not get today's message. What was sent stays sent.")]
        case Act.SKIP:
            return [_("Nothing goes out on this day. Until it is over you may take that back.")]
        case Act.UNSKIP:
            return [_given_back(day)]
        case Act.ARRIVED | Act.SEND_AGAIN:
            return ask_on_unknown(act, count=day.count(Delivery.Status.UNKNOWN))
    return []


def ask_on_unknown(act: Act, *, count: int) -> list[str]:
    """What a person should know of so many messages before they say what becomes of them."""
    unknown = ngettext(
        "Of %(count)s message nobody knows whether it arrived.",
        "Of %(count)s messages nobody knows whether they arrived.",
        count,
    )
    perhaps = _("Perhaps it arrived; there is nothing to do.")
    if act == Act.ARRIVED:
        consequence = _("If you know that it arrived, say so: it then counts as sent.")
    else:
        consequence = _("Sent again, it may arrive twice, and nobody can take it back.")
    return [unknown % {"count": count}, perhaps, consequence]


def do(act: Act, *, day: date, by: str, at: datetime, reason: str = "", fundraiser: Fundraiser | None = None) -> str:
    """Do it, and say what was done.

    Raises:
        CannotChange: why not.
        CannotPlan: why not.
        posts.showing.NothingToShow: if no fundraiser may be shown.
    """
    match act:
        case Act.UNLOCK:
            locks.unlock(testimonies=witness.ask(), by=by, at=at)
            return _("Unlocked. Nothing was sent by this: what ran is paused.")
        case Act.SKIP:
            control.skip(day, reason=reason, by=by, at=at)
            return _("Nothing goes out on this day.")
        case Act.UNSKIP:
            control.unskip(day, by=by, at=at)
            return _("The day is given back. If its hour is over, «Send now» sends.")
        case Act.SEND_NOW:
            if day != clock.local_date(at):
                raise CannotChange(_("the day of this broadcast, %s, is over") % day)
            chosen = fundraiser.pk if fundraiser else None
            planned = planning.start_broadcast(at=at, by=by, fundraiser_id=chosen, now=True)
            return _("It goes out: «%s».") % planned.fundraiser
    return _do_to(_broadcast_of(day), act, by=by, at=at, reason=reason)


def _do_to(broadcast: Broadcast, act: Act, *, by: str, at: datetime, reason: str) -> str:
    match act:
        case Act.PAUSE:
            control.pause(broadcast, by=by)
            return _("Paused: nobody is written to until you resume it.")
        case Act.RESUME:
            control.resume(broadcast, by=by, at=at)
            return _("Resumed: first one message, then the rest, until midnight at the latest.")
        case Act.REFREEZE:
            freezing.refreeze(broadcast, by=by)
            return _("It has the fundraiser's text of now. Resume sends it.")
        case Act.CANCEL:
            control.cancel(broadcast, by=by, at=at)
            return _("Cancelled for good. What was sent stays sent.")
    return do_to_unknown(act, broadcast, broadcast.deliveries.all(), by=by, at=at, reason=reason)


def do_to_unknown(
    act: Act, broadcast: Broadcast, chosen: DeliveryQuerySet, *, by: str, at: datetime, reason: str
) -> str:
    """Do it to the chosen messages of which nobody knows whether they arrived, and say to how many.

    Raises:
        CannotChange: why not.
    """
    if act == Act.ARRIVED:
        count = unknowns.confirm_arrived(broadcast, chosen, reason=reason, by=by, at=at)
        told = ngettext("%(count)s message counts as sent.", "%(count)s messages count as sent.", count)
    else:
        count = unknowns.send_again(broadcast, chosen, reason=reason, by=by, at=at)
        told = ngettext("%(count)s message is sent again.", "%(count)s messages are sent again.", count)
    return told % {"count": count}


def _broadcast_of(day: date) -> Broadcast:
    broadcast = Broadcast.objects.filter(date=day).first()
    if broadcast is None:
        raise CannotChange(_("no broadcast on %s") % day)
    return broadcast


def _waiting(day: Day) -> str:
    count = day.count(Delivery.Status.PENDING)
    told = ngettext("%(count)s person waits for it.", "%(count)s people wait for it.", count)
    return told % {"count": count}


def _given_back(day: Day) -> str:
    """What becomes of the day once its skip is taken back."""
    if day.broadcast and day.broadcast.reason.startswith(reasons.SENT_ELSEWHERE):
        return what_to_do(reasons.SENT_ELSEWHERE)
    if day.is_today and day.schedule.is_due(at=day.at):
        return _("Today's hour has come: it begins within a minute")
    return _("If its hour is still to come, it goes out at that hour.")


def _night(day: Day) -> list[str]:
    """A word about the hour, where people may be asleep."""
    if day.at < day.schedule.quiet_hour_on(day.date):
        return []
    return [_("It is after %s: people may be asleep.") % f"{day.schedule.quiet_from:%H:%M}"]

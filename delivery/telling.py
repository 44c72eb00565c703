"""How a day stands, in a curator's words, and what to do about it."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import TextChoices
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery import reasons
from delivery.advice import what_to_do
from delivery.desk import Day, Status
from delivery.models import Broadcast, Delivery


class Tone(TextChoices):
    """How a state looks at the first glance."""

    CALM = "calm"  # nothing to do
    GOOD = "good"  # done
    WAITS = "waits"  # goes on by itself
    ASKS = "asks"  # waits for a person


@dataclass(frozen=True)
class Told:
    """A day's state for people: one line, and what to do."""

    tone: Tone
    headline: str
    advice: str = ""


def tell(day: Day) -> Told:
    """How the day stands."""
    broadcast = day.broadcast
    if broadcast is None:
        return _tell_unplanned(day)
    why, advice = reasons.in_words(broadcast.reason), what_to_do(broadcast.reason) if day.is_today else ""
    match broadcast.status:
        case Status.PLANNED | Status.SENDING:
            return _tell_running(day, broadcast)
        case Status.PAUSED:
            return Told(Tone.ASKS, _("Paused because: %s") % why, advice)
        case Status.FINISHED:
            return _tell_finished(day, broadcast)
        case Status.SKIPPED:
            return Told(Tone.CALM, _("Skipped: %s") % why)
        case Status.CANCELLED:
            return Told(Tone.CALM, _("Cancelled for good; what was sent stays sent"))
        case _ if broadcast.reason == reasons.SENT_ELSEWHERE:
            return Told(Tone.ASKS, _("Another copy of this database began today's"), advice)
        case _:
            tone = Tone.ASKS if day.is_today else Tone.CALM
            return Told(tone, _("Nothing went out: %s") % why if broadcast.is_free else _("It ended: %s") % why, advice)


def _tell_unplanned(day: Day) -> Told:
    schedule, hour = day.schedule, f"{day.schedule.send_at:%H:%M}"
    if schedule.is_missed(day.date, at=day.at):
        return Told(Tone.ASKS, _("Today's hour, %s, went by, and nothing went out") % hour, what_to_do(reasons.MISSED))
    if day.lock.is_locked or day.conflict:
        return Told(Tone.ASKS, _("Nothing is planned until that is put right"))
    if not schedule.is_enabled:
        nothing = "" if day.turn else _("There is nothing to show either: approve a fundraiser first.")
        return Told(Tone.ASKS, _("Nothing goes out by itself: the daily schedule is switched off"), nothing)
    if day.turn is None:
        return Told(Tone.ASKS, _("There is nothing to show today"), what_to_do(reasons.NOTHING_TO_SHOW))
    if schedule.is_due(at=day.at):
        return Told(Tone.WAITS, _("Today's hour has come: it begins within a minute"))
    if day.at < schedule.hour_on(day.date):
        return Told(Tone.CALM, _("Today's begins by itself at %s") % hour)
    return Told(Tone.CALM, _("Today's hour is over; tomorrow's begins by itself at %s") % hour)


def _tell_running(day: Day, broadcast: Broadcast) -> Told:
    if broadcast.hold_until and broadcast.hold_until > day.at:
        said = {"until": _hour(broadcast.hold_until, "%H:%M:%S"), "why": reasons.in_words(broadcast.reason)}
        return Told(Tone.WAITS, _("On hold until %(until)s because: %(why)s") % said, what_to_do(broadcast.reason))
    if broadcast.first_sent_at is None or broadcast.hold_until:
        return Told(Tone.WAITS, _("One message goes first; the rest follow when it has arrived"))
    done = day.recipients - day.count(Delivery.Status.PENDING, Delivery.Status.SENDING)
    return Told(Tone.WAITS, _("Going out: %(done)s of %(all)s") % {"done": done, "all": day.recipients})


def _tell_finished(day: Day, broadcast: Broadcast) -> Told:
    if not day.count(Delivery.Status.SENT):
        look = _("Look at the deliveries: each says why. If there are none, nobody is subscribed.")
        return Told(Tone.ASKS if day.is_today else Tone.CALM, _("Nobody is known to have got it"), look)
    said = {"count": day.count(Delivery.Status.SENT), "at": _hour(broadcast.finished_at, "%H:%M")}
    return Told(Tone.GOOD, _("It went out: %(count)s got it, done at %(at)s") % said)


def _hour(at: datetime | None, shape: str) -> str:
    return f"{timezone.localtime(at):{shape}}"

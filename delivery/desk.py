"""The desk: the facts of a day, and which acts they leave to a person. The acts have the last word."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from delivery.books import books_of
from delivery.models import Broadcast, DailySchedule, Delivery, SendingLock
from posts import clock, showing
from posts.models import Fundraiser
from subscribers.models import PollingConflict

Status = Broadcast.Status


class Act(TextChoices):
    """What a person may do, as its button says it; the value stands in its address."""

    UNLOCK = "unlock", _("Unlock sending")
    PAUSE = "pause", _("Pause")
    RESUME = "resume", _("Resume")
    REFREEZE = "refreeze", _("Take the mended text")
    SEND_NOW = "send-now", _("Send now")
    SKIP = "skip", _("Skip today")
    UNSKIP = "unskip", _("Take the skip back")
    CANCEL = "cancel", _("Cancel for good")
    ARRIVED = "arrived", _("It arrived")
    SEND_AGAIN = "send-again", _("Send again knowingly")

    @property
    def is_asked(self) -> bool:
        """Whether a page asks before it is done: a pause must not wait, and a text may be taken twice."""
        return self not in (Act.PAUSE, Act.REFREEZE)

    @property
    def is_grave(self) -> bool:
        return self in (Act.CANCEL, Act.UNLOCK, Act.SEND_AGAIN)


@dataclass(frozen=True, kw_only=True)
class Day:
    """The facts of one day, as they were read at one moment."""

    date: date
    at: datetime
    schedule: DailySchedule
    broadcast: Broadcast | None = None
    counts: Mapping[str, int] = field(default_factory=dict)  # of the broadcast's recipients, by state
    lock: SendingLock = field(default_factory=SendingLock)
    conflict: PollingConflict | None = None  # another installation at work
    turn: Fundraiser | None = None  # whose it is, where nothing is planned yet

    @property
    def status(self) -> str:
        return self.broadcast.status if self.broadcast else ""

    @property
    def is_today(self) -> bool:
        return self.date == clock.local_date(self.at)

    @property
    def is_free(self) -> bool:
        """Whether a person may still decide what goes out on it, if anything."""
        return self.broadcast is None or self.broadcast.is_free

    @property
    def may_send(self) -> bool:
        return self.is_today and not self.lock.is_locked

    @property
    def moves(self) -> bool:
        """Whether it may look otherwise in a moment, without anybody doing anything."""
        return self.is_today and (self.broadcast is None or self.status in Broadcast.RUNNING)

    @property
    def recipients(self) -> int:
        return sum(self.counts.values())

    def count(self, *states: Delivery.Status) -> int:
        return sum(self.counts.get(state, 0) for state in states)


def look(day: date, *, at: datetime) -> Day:
    """The facts of the day; of its broadcast the rows are counted."""
    broadcast = Broadcast.objects.select_related("fundraiser").filter(date=day).first()
    books = books_of(day) if broadcast else None
    return Day(
        date=day,
        at=at,
        schedule=DailySchedule.load(),
        broadcast=broadcast,
        counts=books["counts"] if books else {},
        lock=SendingLock.load(),
        conflict=PollingConflict.objects.another_installation(at=at),
        turn=None if broadcast and not broadcast.is_free else _turn(day),
    )


def acts(day: Day) -> list[Act]:
    """What a person may do with the day now, in the order of the buttons."""
    is_running, is_paused = day.status in Broadcast.RUNNING, day.status == Status.PAUSED
    is_out = day.count(Delivery.Status.SENDING, Delivery.Status.SENT, Delivery.Status.UNKNOWN) > 0
    offers = {
        Act.UNLOCK: day.lock.is_locked and day.is_today,
        Act.PAUSE: is_running,
        Act.RESUME: is_paused and day.may_send,
        Act.REFREEZE: is_paused and not is_out,
        Act.SEND_NOW: day.is_free and day.turn is not None and day.may_send and day.conflict is None,
        Act.SKIP: day.is_free and day.is_today,
        Act.UNSKIP: day.status == Status.SKIPPED and day.date >= clock.local_date(day.at),
        Act.CANCEL: is_running or is_paused,
    }
    return [act for act, is_offered in offers.items() if is_offered]


def acts_on_unknown(day: Day) -> list[Act]:
    """What a person may say of all its messages of which nobody knows whether they arrived."""
    if not day.count(Delivery.Status.UNKNOWN):
        return []
    goes_on = day.may_send and day.status not in (Status.CANCELLED, Status.EXPIRED)
    return [Act.ARRIVED, Act.SEND_AGAIN] if goes_on else [Act.ARRIVED]


def _turn(day: date) -> Fundraiser | None:
    try:
        return showing.choose(day=day).fundraiser
    except showing.NothingToShow:
        return None

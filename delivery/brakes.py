"""What starts, holds or stops a running broadcast by itself: its proof, a hold, a pause, the end of its day."""

import logging
from datetime import date, datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce, Greatest
from django.utils.translation import gettext_noop

from delivery import history, reasons, statements
from delivery.advice import what_to_do_lazily
from delivery.history import Change
from delivery.models import Broadcast, BroadcastQuerySet
from delivery.outcomes import Verdict
from posts import clock
from posts.models import Fundraiser

logger = logging.getLogger(__name__)


def prove(broadcast_id: int, *, claimed_at: datetime) -> None:
    """Record that a probe's message was accepted: the rest may go, and the fundraiser counts as shown.

    A hold that came after the probe's claim stays: another call was told to wait meanwhile.
    """
    broadcast = Broadcast.objects.filter(pk=broadcast_id)
    broadcast.update(first_sent_at=Coalesce(F("first_sent_at"), clock.now()), probe_until=None, holds_in_a_row=0)
    broadcast.running().filter(hold_until__lte=claimed_at).update(hold_until=None, reason="")
    count_showing(broadcast_id)


def count_showing(broadcast_id: int) -> None:
    """Count the fundraiser as shown, once a day. Perhaps seen counts too: tomorrow must bring another one."""
    for fundraiser_id, day in Broadcast.objects.filter(pk=broadcast_id).values_list("fundraiser_id", "date"):
        Fundraiser.objects.mark_shown(fundraiser_id, on=day)


def end_probe(broadcast_id: int) -> None:
    """Let the next probe go: this one told nothing about the others."""
    Broadcast.objects.filter(pk=broadcast_id).update(probe_until=None)


def apply(verdict: Verdict, *, broadcast_id: int) -> None:
    """Do what one answer says of everybody's messages, if anything."""
    if verdict.flood_wait is not None:
        hold(broadcast_id, wait=verdict.flood_wait)
    if verdict.back_off:
        back_off(broadcast_id, reason=verdict.back_off)
    if verdict.pause:
        pause(broadcast_id, reason=verdict.pause)


def hold(broadcast_id: int, *, wait: timedelta) -> None:
    """Write to nobody for as long as Telegram asks, then to one. A longer hold stays."""
    until = clock.now() + wait
    # In PostgreSQL greatest() passes over NULL. A paused one too: whoever resumes it must wait as well.
    unfinished = Broadcast.objects.unfinished().filter(pk=broadcast_id)
    unfinished.update(hold_until=Greatest(F("hold_until"), until))
    unfinished.running().update(reason=reasons.FLOODED)
    logger.warning("broadcast %s is on hold for %s: %s", broadcast_id, wait, reasons.FLOODED)


# Each call that was on its way when the trouble began says the same: only the first of them begins a hold.
_BACK_OFF = """
UPDATE delivery_broadcast
SET hold_until = now() + %(offset)s + %(first)s * 2 ^ least(holds_in_a_row, 5), holds_in_a_row = holds_in_a_row + 1,
    reason = %(reason)s
WHERE id = %(broadcast)s AND status IN ('planned', 'sending')
    AND (hold_until IS NULL OR hold_until <= now() + %(offset)s)
"""
FIRST_HOLD = timedelta(seconds=10)  # doubled with each in a row: 5 probes in ten minutes, then one in 5 min 20 s


def back_off(broadcast_id: int, *, reason: str) -> None:
    """Write to nobody for a while that grows with each time in a row, then to one."""
    if statements.change(_BACK_OFF, broadcast=broadcast_id, first=FIRST_HOLD, reason=reason):
        logger.warning("broadcast %s is on hold: %s", broadcast_id, reason)


def pause_unproven(broadcast_id: int, *, reason: str) -> None:
    """Pause it, if no message of it was accepted yet: then the fault may be ours."""
    if Broadcast.objects.filter(pk=broadcast_id, first_sent_at=None).exists():
        pause(broadcast_id, reason=reason)


@transaction.atomic
def pause(broadcast_id: int, *, reason: str, by: str = "") -> bool:
    """Write to nobody until a person resumes it. False where it does not run."""
    running = Broadcast.objects.running().filter(pk=broadcast_id)
    if not running.update(status=Broadcast.Status.PAUSED, reason=reason[:200]):
        return False
    history.note(Change.What.PAUSED, broadcast_id=broadcast_id, by=by, reason=reason)
    _tell_pause(Broadcast.objects.get(pk=broadcast_id), by=by)
    return True


@transaction.atomic
def expire(broadcasts: BroadcastQuerySet, *, reason: str) -> None:
    """End what is unfinished of them: nobody may resume it. The sweep closes its rows."""
    for broadcast_id, day in broadcasts.unfinished().select_for_update(of=["self"]).values_list("pk", "date"):
        Broadcast.objects.filter(pk=broadcast_id).update(status=Broadcast.Status.EXPIRED, reason=reason)
        history.note(Change.What.EXPIRED, broadcast_id=broadcast_id, reason=reason)
        logger.info("broadcast %s is over: %s", broadcast_id, reason, extra={"closes": condition_of(day)})


REACHED_NOBODY = "broadcast to nobody"  # what a finish opens; somebody who got it after all closes it, or the next plan


def condition_of(day: date) -> str:
    """What an alert about the day's broadcast opens, and whatever moves it on closes."""
    return f"broadcast:{day}"


def _tell_pause(broadcast: Broadcast, *, by: str) -> None:
    if by or broadcast.reason == reasons.LOCKED:  # a person knows it; the lock tells of itself
        logger.info("broadcast %s paused: %s", broadcast.pk, broadcast.reason)
        return
    logger.error(
        gettext_noop(
            "The broadcast of %s is paused because: %s. Whoever has not got it yet waits until a person decides. "
            "What to do: %s"
        ),
        broadcast.date,
        reasons.in_words_lazily(broadcast.reason),
        what_to_do_lazily(broadcast.reason),
        extra={"opens": condition_of(broadcast.date)},
    )

"""What starts, holds or stops a running broadcast by itself: its proof, a hold, a pause."""

import logging
from datetime import datetime, timedelta

from django.db.models import F
from django.db.models.functions import Coalesce, Greatest

from delivery import reasons
from delivery.models import Broadcast
from posts import clock
from posts.models import Fundraiser

logger = logging.getLogger(__name__)


def prove(broadcast_id: int, *, claimed_at: datetime) -> None:
    """Record that a probe's message was accepted: the rest may go, and the fundraiser counts as shown.

    A hold that came after the probe's claim stays: another call was told to wait meanwhile.
    """
    broadcast = Broadcast.objects.filter(pk=broadcast_id)
    broadcast.update(first_sent_at=Coalesce(F("first_sent_at"), clock.now()), probe_until=None)
    broadcast.filter(hold_until__lte=claimed_at).update(hold_until=None)
    count_showing(broadcast_id)


def count_showing(broadcast_id: int) -> None:
    """Count the fundraiser as shown, once a day. Perhaps seen counts too: tomorrow must bring another one."""
    for fundraiser_id, day in Broadcast.objects.filter(pk=broadcast_id).values_list("fundraiser_id", "date"):
        Fundraiser.objects.mark_shown(fundraiser_id, on=day)


def end_probe(broadcast_id: int) -> None:
    """Let the next probe go: this one told nothing about the others."""
    Broadcast.objects.filter(pk=broadcast_id).update(probe_until=None)


def hold(broadcast_id: int, *, wait: timedelta) -> None:
    """Write to nobody for `wait`, then to one. A longer hold stays."""
    until = clock.now() + wait
    # In PostgreSQL greatest() passes over NULL. A paused one too: whoever resumes it must wait as well.
    Broadcast.objects.unfinished().filter(pk=broadcast_id).update(hold_until=Greatest(F("hold_until"), until))
    logger.warning("broadcast %s is on hold for %s", broadcast_id, wait)


def pause_unproven(broadcast_id: int, *, reason: str) -> None:
    """Pause it, if no message of it was accepted yet: then the fault may be ours."""
    if Broadcast.objects.filter(pk=broadcast_id, first_sent_at=None).exists():
        pause(broadcast_id, reason=reason)


def pause(broadcast_id: int, *, reason: str) -> bool:
    """Write to nobody until a person resumes it. False where it does not run."""
    running = Broadcast.objects.running().filter(pk=broadcast_id)
    if not running.update(status=Broadcast.Status.PAUSED, reason=reason[:200]):
        return False
    # What a person did needs no person.
    level = logging.INFO if reason == reasons.PAUSED_BY_HAND else logging.ERROR
    logger.log(level, "broadcast %s paused: %s", broadcast_id, reason)
    return True

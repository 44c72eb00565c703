"""When nobody is written to until a person confirms: another bot, a restored copy, a second installation."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _, gettext_noop

from delivery import brakes, history, reasons, statements
from delivery.history import Change
from delivery.models import Broadcast, SendingLock
from delivery.refusals import CannotChange, Locked
from posts import clock
from subscribers.models import PollingConflict
from subscribers.telegram.client import bot_id

logger = logging.getLogger(__name__)

CONDITION = "lock"
IN_FULL = gettext_noop(
    "Sending is locked: %(reason)s. Nobody is written to. What to do: if the bot in the settings is the wrong one, "
    "or another installation is at work, mend that first. If people have today's message already, press “Cancel for "
    "good” or “Skip today” on the desk. Then press “Unlock sending” there. On the machine these are "
    "`broadcast cancel`, `broadcast skip` and `broadcast unlock`."
)


@dataclass(frozen=True, slots=True)
class Testimony:
    """What is kept outside the database: its number at the last look, the day it sent for, and which database it is."""

    number: int
    day: date
    home: str


@transaction.atomic
def look(*, at: datetime) -> SendingLock:
    """The lock as it stands. The first look remembers the bot and the database; a look of others locks."""
    lock, home, running_since = SendingLock.held(), *_where_we_are()
    if lock.bot_id is None:
        lock.bot_id, lock.is_sandbox, lock.home, lock.time_zone = bot_id(), settings.SANDBOX, home, settings.TIME_ZONE
        lock.save()
    elif not lock.is_locked and (lock.bot_id, lock.is_sandbox) != (bot_id(), settings.SANDBOX):
        _lock(lock, f"{reasons.OTHER_BOT}: {lock.bot_id} / {bot_id()}", at=at)
    elif not lock.is_locked and lock.time_zone != settings.TIME_ZONE:
        _lock(lock, f"{reasons.OTHER_ZONE}: {lock.time_zone} / {settings.TIME_ZONE}", at=at)
    elif not lock.is_locked and lock.home != home:
        _lock(lock, reasons.RESTORED, at=at)
    if lock.witnessed_at and lock.witnessed_at < running_since:  # since then its files may have been copied
        lock.witnessed_at = None
    return lock


@transaction.atomic
def compare(testimonies: Iterable[Testimony], *, at: datetime) -> SendingLock:
    """Look, and lock where one tells of more than this database knows; without any there is nothing to compare."""
    lock, home, _ = look(at=at), *_where_we_are()
    for testimony in testimonies:
        is_copy = testimony.home == home
        known = max(lock.number, lock.seen_number) if is_copy else lock.seen_number
        if testimony.number > known:
            lock.seen_number = testimony.number
            lock.save(update_fields=["seen_number"])
            if not lock.is_locked:
                _lock(lock, reasons.COPY if is_copy else reasons.ANOTHER, at=at)
            if testimony.day == clock.local_date(at):
                _keep_day_from_being_planned(testimony.day)
    return lock


@transaction.atomic
def advance(testimonies: Iterable[Testimony], *, at: datetime) -> Testimony | None:
    """Compare, and commit the next testimony, for the caller to write outside; None where sending is locked."""
    lock, home, _ = compare(testimonies, at=at), *_where_we_are()
    if lock.is_locked:
        return None
    lock.number += 1
    lock.save(update_fields=["number"])
    return Testimony(lock.number, clock.local_date(at), home)


def mark_witnessed(*, at: datetime) -> None:
    """Record that the outside knows of this database what there is to know."""
    SendingLock.objects.update(witnessed_at=at)


def refuse_planning(*, at: datetime) -> None:
    """Let the caller go on only if this is the one installation that sends.

    Raises:
        Locked: if sending is locked, or another installation lives on the same token.
    """
    if (lock := look(at=at)).is_locked:
        raise Locked(_("sending is locked: %s") % reasons.in_words(lock.reason))
    if conflict := PollingConflict.objects.another_installation(at=at):
        raise Locked(_("a webhook is set for this bot") if conflict.is_webhook else _("another installation lives"))


def in_full(lock: SendingLock) -> str:
    """What happened, what it means for people, and what to do."""
    return _(IN_FULL) % {"reason": reasons.in_words(lock.reason)}


@transaction.atomic
def unlock(*, testimonies: Iterable[Testimony], by: str, at: datetime) -> None:
    """Take a person's word that this bot and this database are the right ones, and the only ones.

    It sends nothing by itself: what ran when it was locked stays paused. `testimonies` are what is told outside at this
    moment: what comes later locks again.

    Raises:
        CannotChange: if sending is not locked, or sandbox and real would meet.
    """
    lock = SendingLock.held()
    if not lock.is_locked:
        raise CannotChange(_("sending is not locked"))
    if lock.is_sandbox != settings.SANDBOX:
        raise CannotChange(_("sandbox and real never meet: use another database"))
    lock = compare(testimonies, at=at)
    lock.bot_id, lock.home, lock.time_zone = bot_id(), _where_we_are()[0], settings.TIME_ZONE
    lock.number = lock.seen_number = max(lock.number, lock.seen_number)
    lock.reason, lock.locked_at, lock.witnessed_at = "", None, None
    lock.save()
    _pause_running()  # what was planned or resumed at the very moment of the lock
    history.note(Change.What.UNLOCKED, broadcast_id=None, by=by)
    logger.info("sending unlocked by hand", extra={"closes": CONDITION})


def _lock(lock: SendingLock, reason: str, *, at: datetime) -> None:
    lock.reason, lock.locked_at = reason, at
    lock.save()
    history.note(Change.What.LOCKED, broadcast_id=None, reason=reason)
    _pause_running()
    logger.error(IN_FULL, {"reason": reasons.in_words_lazily(reason)}, extra={"opens": CONDITION})


def _pause_running() -> None:
    for broadcast_id in Broadcast.objects.running().values_list("pk", flat=True):
        brakes.pause(broadcast_id, reason=reasons.LOCKED)


# PostgreSQL gives each server, and each database in it, an identity that no dump carries along.
_WHERE_WE_ARE = """
SELECT left(md5(system_identifier || '/' || oid), 8), pg_postmaster_start_time() + %(offset)s
FROM pg_control_system(), pg_database
WHERE datname = current_database()
"""


def _where_we_are() -> tuple[str, datetime]:
    """Which database this is, and since when its server runs."""
    ((home, running_since),) = statements.rows(_WHERE_WE_ARE)
    return home, running_since


def _keep_day_from_being_planned(day: date) -> None:
    """The other copy began it: after the unlock nothing goes to everybody a second time, unless a person says so."""
    row, is_new = Broadcast.objects.get_or_create(
        date=day, defaults={"status": Broadcast.Status.EXPIRED, "reason": reasons.SENT_ELSEWHERE}
    )
    if not is_new and row.is_free:  # recorded as missed here, which would ask a person to send it now
        Broadcast.objects.filter(pk=row.pk).update(reason=reasons.SENT_ELSEWHERE)
    elif row.status == Broadcast.Status.SKIPPED and not row.reason.startswith(reasons.SENT_ELSEWHERE):
        row.reason = f"{reasons.SENT_ELSEWHERE}: {row.reason}"[:200]  # for whoever takes the skip back
        row.save(update_fields=["reason"])

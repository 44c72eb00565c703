"""A database with a lock on sending, and what was told about it outside."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from delivery import locks, reasons
from delivery.models import SendingLock
from tests.delivery.morning import DAY, MORNING

OTHER_TOKEN = "2048:another-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
ELSEWHERE = "0123abcd"
YESTERDAY = DAY - timedelta(days=1)


def home() -> str:
    """Which database this is."""
    return locks.look(at=MORNING).home


def told(number: int, **facts: Any) -> locks.Testimony:
    """What this database wrote outside."""
    return replace(locks.Testimony(number, YESTERDAY, home()), **facts)


def make_lock(**facts: Any) -> SendingLock:
    """As after some mornings of this bot on this database."""
    home()
    SendingLock.objects.update(**{"number": 7} | facts)
    return SendingLock.load()


def make_locked(reason: str = reasons.COPY, **facts: Any) -> SendingLock:
    return make_lock(reason=reason, locked_at=MORNING, **facts)


def reason() -> str:
    return SendingLock.load().reason

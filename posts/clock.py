"""The one clock: the database's, plus the sandbox's offset."""

from datetime import UTC, date, datetime, time, timedelta
from typing import cast
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import connection


def now() -> datetime:
    """The present moment, in UTC, by the database's clock: hosts may disagree, the database does not."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (moment,) = cursor.fetchone()
    return cast("datetime", moment).astimezone(UTC) + offset()


def offset() -> timedelta:
    """How far the sandbox's clock is ahead; always nothing outside it. Raw SQL adds it to the database's clock."""
    if not settings.SANDBOX:
        return timedelta(0)
    try:
        return timedelta(seconds=float((settings.STATE_DIR / "clock-offset").read_text()))
    except (FileNotFoundError, ValueError):  # ValueError: read while it was being written
        return timedelta(0)


def local_date(at: datetime) -> date:
    """The calendar day in TIME_ZONE."""
    return at.astimezone(_zone()).date()


def local_moment(day: date, hour: time) -> datetime:
    """The moment, in UTC, at which the clocks of TIME_ZONE show that hour on that day.

    An hour that the spring change leaves out counts as if the clocks had not changed (03:30 comes as 04:30); of the
    hour that autumn repeats, the first counts.
    """
    return datetime.combine(day, hour, _zone()).astimezone(UTC)


def _zone() -> ZoneInfo:
    return ZoneInfo(settings.TIME_ZONE)

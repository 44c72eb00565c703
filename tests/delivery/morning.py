"""The day on which the tests happen: a Sunday whose night was an hour short."""

from datetime import date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from delivery import planning
from delivery.models import Broadcast, DailySchedule

DAY = date(2026, 3, 29)


def local(hour: int, minute: int = 0, second: int = 0, *, day: date = DAY) -> datetime:
    return datetime.combine(day, time(hour, minute, second), ZoneInfo("Europe/Kyiv"))


MORNING = local(8, 0, 20)
QUIET, MIDNIGHT = local(22), local(0, day=date(2026, 3, 30))


def plan(**facts: Any) -> Broadcast:
    DailySchedule.load()
    return planning.plan_broadcast(**{"day": DAY, "at": MORNING, "run_until": QUIET} | facts)

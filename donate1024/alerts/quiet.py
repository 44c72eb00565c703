"""When an alert comes without a sound: at night, unless a morning depends on somebody."""

from datetime import datetime, time, timedelta

from delivery.models import Broadcast, DailySchedule
from posts import clock

WAKING, SLEEPING = time(7), time(22)
BEFORE_RUN = timedelta(minutes=60)


def may_sound(*, at: datetime) -> bool:
    """Whether phones may ring: by day, and at any hour while a broadcast runs, waits or is about to begin."""
    today = clock.local_date(at)
    if clock.local_moment(today, WAKING) <= at < clock.local_moment(today, SLEEPING):
        return True
    if Broadcast.objects.unfinished().filter(date=today).exists():
        return True
    schedule = DailySchedule.objects.filter(is_enabled=True).first()
    days = (today, today + timedelta(days=1))
    return schedule is not None and any(at <= schedule.hour_on(day) <= at + BEFORE_RUN for day in days)

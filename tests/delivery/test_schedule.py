"""DailySchedule: which hour is due, and which was missed."""

import time as process_time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta

import pytest

from delivery import tasks
from delivery.models import Broadcast, DailySchedule
from tests.delivery.morning import DAY, local
from tests.factories import make_fundraiser, make_schedule

pytestmark = pytest.mark.django_db
AUTUMN = date(2026, 10, 25)  # its night has an hour more
SetClock = Callable[[datetime], None]


@pytest.fixture(autouse=True)
def _process_in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As on most servers; Django sets TIME_ZONE, which would hide a forgotten zone."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        process_time.tzset()
        yield
    process_time.tzset()


@pytest.mark.parametrize(
    ("at", "state"),
    [
        (local(0), "early"),
        (local(7, 59, 59), "early"),
        (local(8), "due"),
        (local(10), "due"),
        (local(10, 0, 1), "missed"),
        (local(23, 59, 59), "missed"),
    ],
)
def test_a_day_is_due_from_its_hour_to_its_latest_start_and_missed_after(at: datetime, state: str) -> None:
    schedule = DailySchedule(is_enabled=True, effective_from=local(0))

    assert schedule.is_due(at=at) == (state == "due")
    assert schedule.is_missed(DAY, at=at) == (state == "missed")


def test_a_schedule_that_is_off_is_never_due_and_never_missed() -> None:
    schedule = DailySchedule(is_enabled=False, effective_from=local(0))

    assert not schedule.is_due(at=local(9))
    assert not schedule.is_missed(DAY, at=local(11))


def test_the_hour_at_which_the_schedule_begins_to_count_counts() -> None:
    schedule = DailySchedule(is_enabled=True, effective_from=local(8))

    assert schedule.is_due(at=local(8))


def test_an_hour_before_the_schedule_counts_is_neither_due_nor_missed() -> None:
    schedule = DailySchedule(is_enabled=True, effective_from=local(8, 0, 1))

    assert not schedule.is_due(at=local(9))
    assert not schedule.is_missed(DAY, at=local(11))
    assert schedule.is_due(at=local(9, day=DAY + timedelta(days=1)))


@pytest.mark.parametrize(
    ("day", "utc_hour"),
    [
        (DAY - timedelta(days=1), 6),
        (DAY, 5),
        (DAY + timedelta(days=1), 5),
        (AUTUMN - timedelta(days=1), 5),
        (AUTUMN, 6),
        (AUTUMN + timedelta(days=1), 6),
    ],
)
def test_eight_in_the_morning_is_eight_in_kyiv_when_the_clocks_change(day: date, utc_hour: int) -> None:
    schedule = DailySchedule(is_enabled=True, effective_from=local(0, day=day))
    hour = datetime.combine(day, time(utc_hour), UTC)

    assert schedule.hour_on(day) == hour
    assert not schedule.is_due(at=hour - timedelta(seconds=1))
    assert schedule.is_due(at=hour)
    assert schedule.quiet_hour_on(day) == local(22, day=day)


def test_an_hour_that_spring_leaves_out_comes_an_hour_later() -> None:
    schedule = DailySchedule(is_enabled=True, effective_from=local(0), send_at=time(3, 30))

    assert schedule.hour_on(DAY) == local(4, 30)


def test_an_hour_that_autumn_repeats_is_due_at_the_first_and_not_missed_until_two_real_hours_later() -> None:
    schedule = DailySchedule(is_enabled=True, effective_from=local(0, day=AUTUMN), send_at=time(3, 30))
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)

    assert schedule.hour_on(AUTUMN) == first
    assert schedule.is_due(at=first + timedelta(hours=2))
    assert schedule.is_missed(AUTUMN, at=first + timedelta(hours=2, seconds=1))


def ticks_that_plan(set_clock: SetClock, *moments: datetime) -> list[datetime]:
    planned = []
    for moment in moments:
        set_clock(moment)
        tasks.plan_todays_broadcast()
        planned += [moment] if Broadcast.objects.filter(planned_at__gte=moment - timedelta(minutes=1)).exists() else []
    return planned


def test_an_hour_moved_later_fires_at_the_new_hour_only(set_clock: SetClock) -> None:
    make_fundraiser()
    schedule = make_schedule(send_at=time(13, 30))

    set_clock(local(12, 20))
    schedule.send_at = time(16)
    schedule.save()

    ticks = [local(12, 20, 30), local(13, 30), local(14), local(15, 59), local(16, 0, 30), local(16, 2)]
    assert ticks_that_plan(set_clock, *ticks) == [local(16, 0, 30)]


def test_an_hour_moved_to_one_that_is_past_waits_for_the_next_day(set_clock: SetClock) -> None:
    make_fundraiser()
    schedule = make_schedule(send_at=time(13, 30))

    set_clock(local(12, 20))
    schedule.send_at = time(12)
    schedule.save()

    tomorrow = local(12, 1, day=DAY + timedelta(days=1))
    assert ticks_that_plan(set_clock, local(12, 21), local(14), tomorrow) == [tomorrow]
    assert Broadcast.objects.count() == 1


def test_a_schedule_switched_on_after_its_hour_waits_for_the_next_day(set_clock: SetClock) -> None:
    make_fundraiser()
    schedule = make_schedule(send_at=time(14), is_enabled=False)

    set_clock(local(15))
    schedule.is_enabled = True
    schedule.save()

    assert ticks_that_plan(set_clock, local(15, 1), local(15, 59), local(16, 1)) == []
    assert not Broadcast.objects.exists()

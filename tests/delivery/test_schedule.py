"""DailySchedule: which hour counts, and when it is due."""

import time as process_time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

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


def by_hand(schedule: DailySchedule, **facts: Any) -> None:
    for name, value in facts.items():
        setattr(schedule, name, value)
    schedule.save()


def by_some_fields(schedule: DailySchedule, **facts: Any) -> None:
    DailySchedule.objects.update_or_create(id=1, defaults=facts)


def by_a_statement(schedule: DailySchedule, **facts: Any) -> None:
    DailySchedule.objects.update(**facts)


def in_bulk(schedule: DailySchedule, **facts: Any) -> None:
    for name, value in facts.items():
        setattr(schedule, name, value)
    DailySchedule.objects.bulk_update([schedule], [*facts])


every_way_of_writing = pytest.mark.parametrize("write", [by_hand, by_some_fields, by_a_statement, in_bulk])
Write = Callable[..., None]


@every_way_of_writing
@pytest.mark.parametrize(
    "facts", [{"send_at": time(7, 30)}, {"is_enabled": True}, {"send_at": time(7, 30), "is_enabled": True}]
)
def test_an_hour_or_a_switch_that_is_changed_counts_from_then_on(
    set_clock: SetClock, write: Write, facts: dict[str, Any]
) -> None:
    schedule = make_schedule(is_enabled=False)

    set_clock(local(8, 30))
    write(schedule, **facts)

    assert local(8, 30) <= DailySchedule.objects.get().effective_from < local(8, 31)


@every_way_of_writing
@pytest.mark.parametrize(
    "facts", [{"latest_after": timedelta(hours=3)}, {"quiet_from": time(21)}, {"send_at": time(8), "is_enabled": True}]
)
def test_another_change_leaves_todays_hour_as_it_is(set_clock: SetClock, write: Write, facts: dict[str, Any]) -> None:
    schedule = make_schedule()
    before = schedule.effective_from

    set_clock(local(8, 30))
    write(schedule, **facts)

    changed = DailySchedule.objects.get()
    assert changed.effective_from == before
    assert changed.is_due(at=local(8, 30))
    assert facts.items() <= vars(changed).items()


def test_a_form_that_was_opened_before_another_change_does_not_undo_from_when_it_counts(set_clock: SetClock) -> None:
    opened = make_schedule()
    set_clock(local(8, 30))
    for hour in (time(16), time(8)):
        DailySchedule.objects.update(send_at=hour)

    opened.save()

    assert DailySchedule.objects.get().effective_from > local(8, 30)


def test_both_hours_may_be_changed_at_once() -> None:
    schedule = make_schedule()

    by_hand(schedule, send_at=time(21), quiet_from=time(23, 30))

    assert DailySchedule.objects.get().send_at == time(21)


def test_a_new_schedule_is_off_and_counts_from_now(set_clock: SetClock) -> None:
    set_clock(local(12, 20))

    schedule = DailySchedule.load()

    assert not schedule.is_enabled
    assert local(12, 20) <= schedule.effective_from < local(12, 21)
    assert DailySchedule.load().effective_from == schedule.effective_from


def test_the_admin_has_no_bulk_action_on_the_schedule(admin_client: Client) -> None:
    make_schedule()
    before = DailySchedule.objects.values().get()
    form = {"action": "delete_selected", "_selected_action": [1], "form-0-send_at": "07:00", "_save": "1"}

    answer = admin_client.post(reverse("admin:delivery_dailyschedule_changelist"), form)

    assert answer.status_code == 302  # to the one page of the one row
    assert DailySchedule.objects.values().get() == before


def test_whoever_saves_one_field_leaves_the_others_as_somebody_else_wrote_them() -> None:
    make_schedule()
    old = DailySchedule.load()
    DailySchedule.objects.update(quiet_from=time(21))

    old.report_at = time(19)
    old.save(update_fields=["report_at"])

    stored = DailySchedule.objects.get()
    assert (stored.report_at, stored.quiet_from) == (time(19), time(21))

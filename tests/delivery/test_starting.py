"""What begins a day by itself: the tick."""

import logging
from datetime import time, timedelta

import pytest

from delivery import planning, reasons
from delivery.models import Broadcast, DailySchedule
from posts.models import PaymentMethod
from tests.delivery.morning import DAY, MORNING, QUIET, local
from tests.delivery.traces import conditions, errors
from tests.factories import (
    make_broadcast,
    make_fundraiser,
    make_schedule,
    make_subscriber,
)

pytestmark = pytest.mark.django_db


def test_a_tick_inside_the_window_plans_until_the_quiet_hour() -> None:
    make_schedule()
    make_fundraiser()

    planned = planning.plan_due_broadcast(at=MORNING)

    assert planned
    assert planned == Broadcast.objects.get(begin_until=local(10, 5), run_until=QUIET)


def test_a_tick_after_the_plan_has_nothing_to_do(caplog: pytest.LogCaptureFixture) -> None:
    make_schedule()
    make_fundraiser()
    planning.plan_due_broadcast(at=MORNING)
    caplog.clear()
    caplog.set_level(logging.INFO)

    assert planning.plan_due_broadcast(at=MORNING + timedelta(minutes=1)) is None

    assert caplog.messages == []  # Telegram was not asked either


def test_a_tick_outside_the_window_leaves_nothing(caplog: pytest.LogCaptureFixture) -> None:
    make_schedule()
    make_fundraiser()

    assert planning.plan_due_broadcast(at=MORNING - timedelta(minutes=1)) is None

    assert not Broadcast.objects.exists()
    assert errors(caplog) == []


def test_a_missed_day_leaves_one_row_and_one_error(caplog: pytest.LogCaptureFixture) -> None:
    make_schedule()
    make_fundraiser()

    for minutes in (121, 122, 123):
        assert planning.plan_due_broadcast(at=MORNING + timedelta(minutes=minutes)) is None

    row = Broadcast.objects.get()
    assert (row.date, row.status, row.reason, row.deliveries.count()) == (DAY, "expired", reasons.MISSED, 0)
    assert errors(caplog) == [
        "No broadcast on 2026-03-29: its hour went by. Nobody got a message. What to do: Send it now, or skip today."
    ]


def test_days_without_a_worker_leave_a_row_each_and_one_error_that_names_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    make_schedule()
    make_fundraiser()

    back = MORNING + timedelta(days=3, hours=-1)  # before that day's own hour
    for minutes in (0, 1, 2):
        assert planning.plan_due_broadcast(at=back + timedelta(minutes=minutes)) is None

    assert [(row.date.day, row.status, row.reason) for row in Broadcast.objects.order_by("date")] == [
        (day, "expired", reasons.MISSED) for day in (29, 30, 31)
    ]
    (told,) = errors(caplog)
    assert told.startswith("No broadcast on 2026-03-29, 2026-03-30, 2026-03-31: nothing was at work. ")
    assert conditions(caplog) == []  # nothing can be done about them
    assert planning.plan_due_broadcast(at=back + timedelta(hours=1))


def test_days_that_have_a_row_are_not_missed(caplog: pytest.LogCaptureFixture) -> None:
    make_schedule()
    make_broadcast(status="finished", finished_at=MORNING)
    make_broadcast(date=DAY + timedelta(days=2), status="skipped", reason="траур")

    planning.plan_due_broadcast(at=MORNING + timedelta(days=3, hours=-1))

    (told,) = errors(caplog)
    assert told.startswith("No broadcast on 2026-03-30: ")
    assert Broadcast.objects.get(date=DAY + timedelta(days=2)).status == "skipped"


def test_days_on_which_the_schedule_was_off_are_not_missed(caplog: pytest.LogCaptureFixture) -> None:
    make_schedule(effective_from=MORNING + timedelta(days=3))

    planning.plan_due_broadcast(at=MORNING + timedelta(days=3, minutes=1))

    assert not Broadcast.objects.exists()
    assert errors(caplog) == []


def test_a_missed_morning_whose_hour_is_moved_goes_out_at_the_new_one() -> None:
    make_schedule()
    make_fundraiser()
    planning.plan_due_broadcast(at=MORNING.replace(hour=11))
    DailySchedule.objects.update(send_at=time(12), effective_from=MORNING.replace(hour=11, minute=30))

    assert planning.plan_due_broadcast(at=MORNING.replace(hour=11, minute=31)) is None
    assert planning.plan_due_broadcast(at=MORNING.replace(hour=12)) == Broadcast.objects.get()


def test_a_clock_that_ran_a_week_ahead_costs_no_morning() -> None:
    make_schedule()
    make_fundraiser()
    planning.plan_due_broadcast(at=MORNING + timedelta(days=7, hours=3))
    assert Broadcast.objects.filter(status="expired").count() == 8

    planned = planning.plan_due_broadcast(at=MORNING)

    assert planned
    assert (planned.date, planned.status) == (DAY, "planned")


def test_a_year_without_a_worker_is_told_as_its_last_month(caplog: pytest.LogCaptureFixture) -> None:
    make_schedule()

    planning.plan_due_broadcast(at=MORNING + timedelta(days=365, hours=-1))

    assert Broadcast.objects.count() == 31
    assert len(errors(caplog)) == 1


def test_nothing_to_show_leaves_one_row_and_one_error(caplog: pytest.LogCaptureFixture) -> None:
    make_schedule()
    make_subscriber()

    for minutes in (0, 1, 2, 119, 120, 121):
        assert planning.plan_due_broadcast(at=MORNING + timedelta(minutes=minutes)) is None

    row = Broadcast.objects.get()
    assert (row.status, row.reason, row.deliveries.count()) == ("expired", reasons.NOTHING_TO_SHOW, 0)
    (told,) = errors(caplog)
    assert told.startswith("No broadcast on 2026-03-29: nothing to show. ")


def test_a_fundraiser_approved_inside_the_window_heals_a_day_with_nothing_to_show() -> None:
    make_schedule()
    make_subscriber()
    planning.plan_due_broadcast(at=MORNING)
    make_fundraiser()

    broadcast = planning.plan_due_broadcast(at=MORNING + timedelta(minutes=30))

    assert broadcast == Broadcast.objects.get()
    assert broadcast.status == "planned"
    assert broadcast.deliveries.count() == 1


def test_a_fundraiser_approved_after_the_window_waits_for_a_person() -> None:
    make_schedule()
    planning.plan_due_broadcast(at=MORNING)
    make_fundraiser()

    assert planning.plan_due_broadcast(at=MORNING + timedelta(minutes=121)) is None

    assert Broadcast.objects.get().status == "expired"


def test_a_skipped_date_is_not_planned_whatever_its_reason() -> None:
    make_schedule()
    make_fundraiser()
    Broadcast.objects.create(date=DAY, status="skipped", reason=reasons.NOTHING_TO_SHOW)

    assert planning.plan_due_broadcast(at=MORNING) is None

    assert Broadcast.objects.get().status == "skipped"


def test_a_morning_on_which_nothing_can_be_sent_is_told_once_with_the_reasons(
    caplog: pytest.LogCaptureFixture,
) -> None:
    spoiled = make_fundraiser()
    PaymentMethod.objects.all().delete()
    make_schedule()

    planning.plan_due_broadcast(at=MORNING)
    planning.plan_due_broadcast(at=MORNING + timedelta(minutes=1))

    assert Broadcast.objects.get().reason == reasons.NOTHING_TO_SHOW
    (told,) = errors(caplog)
    assert told.startswith(f"No broadcast on 2026-03-29: nothing to show: fundraiser {spoiled.pk} cannot be sent")

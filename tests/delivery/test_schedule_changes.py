"""DailySchedule: from when a change counts, whoever writes it."""

from collections.abc import Callable
from datetime import datetime, time, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from delivery.models import DailySchedule
from tests.delivery.morning import local
from tests.factories import make_schedule

pytestmark = pytest.mark.django_db
SetClock = Callable[[datetime], None]


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

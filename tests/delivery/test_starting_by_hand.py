"""What begins a day: a person's «start»."""

from datetime import datetime, time, timedelta
from typing import Any

import pytest

from delivery import planning
from delivery.models import Broadcast
from delivery.refusals import AlreadyPlanned, NotDue
from posts.showing import NothingToShow
from tests.delivery.morning import DAY, MIDNIGHT, MORNING, local
from tests.factories import (
    make_broadcast,
    make_fundraiser,
    make_schedule,
)

pytestmark = pytest.mark.django_db


def test_a_start_inside_the_window_may_run_until_midnight() -> None:
    make_schedule()
    make_fundraiser()

    started = planning.start_broadcast(by="Ольга", at=MORNING)

    assert started == Broadcast.objects.get(begin_until=None, run_until=MIDNIGHT)


def test_that_there_is_a_broadcast_already_says_more_than_that_its_hour_went_by() -> None:
    make_schedule()
    make_broadcast(status="finished", finished_at=MORNING)

    with pytest.raises(AlreadyPlanned):
        planning.start_broadcast(by="Ольга", at=local(11))


@pytest.mark.parametrize(
    ("facts", "at", "words"),
    [
        ({"is_enabled": False}, MORNING, "switched off"),
        ({"send_at": time(9)}, MORNING, "today's hour, 09:00, has not come"),
        ({}, MORNING.replace(hour=11), "today's hour, 08:00, went by"),
        ({"effective_from": local(8, 0, 1)}, MORNING, "counts from tomorrow"),
        ({"effective_from": local(8, 0, 1)}, local(8), "counts from tomorrow"),
    ],
)
def test_a_start_that_is_not_due_says_why_and_plans_nothing(facts: dict[str, Any], at: datetime, words: str) -> None:
    make_schedule(**facts)
    make_fundraiser()

    with pytest.raises(NotDue, match=words):
        planning.start_broadcast(by="Ольга", at=at)

    assert not Broadcast.objects.exists()


@pytest.mark.parametrize("hour", [0, 7, 11, 23])
def test_a_start_now_ignores_the_schedule(hour: int) -> None:
    make_schedule(is_enabled=False)
    make_fundraiser()

    broadcast = planning.start_broadcast(by="Ольга", at=MORNING.replace(hour=hour), now=True)

    assert (broadcast.date, broadcast.run_until) == (DAY, MIDNIGHT)


def test_a_start_now_never_plans_a_second_broadcast() -> None:
    make_broadcast(status="cancelled")

    with pytest.raises(AlreadyPlanned, match="the broadcast of 2026-03-29 exists already: cancelled"):
        planning.start_broadcast(by="Ольга", at=MORNING, now=True)


def test_a_start_now_takes_over_a_missed_day() -> None:
    make_schedule()
    make_fundraiser()
    late = MORNING + timedelta(hours=5)
    planning.plan_due_broadcast(at=late)

    broadcast = planning.start_broadcast(by="Ольга", at=late, now=True)

    assert broadcast == Broadcast.objects.get()
    assert broadcast.status == "planned"


def test_a_start_with_nothing_to_show_says_so() -> None:
    make_schedule()

    with pytest.raises(NothingToShow, match="no approved fundraiser may be shown on 2026-03-29"):
        planning.start_broadcast(by="Ольга", at=MORNING)

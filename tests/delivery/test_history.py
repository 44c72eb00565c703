from collections.abc import Callable
from datetime import timedelta

import pytest

from delivery import brakes, control, freezing, planning, reasons, sweeping
from delivery.history import Change
from delivery.models import Broadcast
from delivery.refusals import CannotChange
from posts import clock
from tests.delivery.morning import DAY, MORNING
from tests.factories import make_broadcast, make_fundraiser, make_schedule

pytestmark = pytest.mark.django_db


def make_in(status: str) -> Broadcast:
    return make_broadcast(date=DAY, status=status, reason="so", finished_at=MORNING)


def history() -> list[tuple[str, str, str]]:
    return list(Change.objects.values_list("what", "by", "reason"))


@pytest.mark.parametrize(
    ("status", "act", "noted"),
    [
        ("sending", lambda it: control.pause(it, by="Ольга"), ("paused", "Ольга", "paused by hand")),
        ("paused", lambda it: control.resume(it, by="Ольга", at=MORNING), ("resumed", "Ольга", "so")),
        ("paused", lambda it: freezing.refreeze(it, by="Ольга"), ("refrozen", "Ольга", "")),
        ("paused", lambda it: control.cancel(it, by="Ольга", at=MORNING), ("cancelled", "Ольга", "")),
        ("sending", lambda it: brakes.pause(it.pk, reason=reasons.QUIET_HOUR), ("paused", "", "quiet hour")),
        ("paused", lambda _: brakes.expire(Broadcast.objects.all(), reason="late"), ("expired", "", "late")),
        ("paused", lambda it: sweeping.close_if_done(it.pk, at=MORNING), ("finished", "", "")),
    ],
)
def test_every_change_says_who_made_it_and_why(
    status: str, act: Callable[[Broadcast], object], noted: tuple[str, str, str]
) -> None:
    broadcast = make_in(status)
    before = clock.now()

    act(broadcast)

    (change,) = Change.objects.all()
    assert history() == [noted]
    assert change.broadcast == broadcast
    assert before <= change.at <= clock.now()


def test_a_plan_and_a_skip_say_who_made_them() -> None:
    make_fundraiser()
    planning.start_broadcast(at=MORNING, by="Ольга", now=True)
    control.skip(DAY + timedelta(days=1), reason="День жалоби", by="Іван", at=MORNING)

    assert history() == [("planned", "Ольга", ""), ("skipped", "Іван", "День жалоби")]
    assert list(Change.objects.values_list("broadcast__date", flat=True)) == [DAY, DAY + timedelta(days=1)]


def test_a_skip_taken_back_says_by_whom_and_of_which_day() -> None:
    control.skip(DAY, reason="День жалоби", by="Іван", at=MORNING)

    control.unskip(DAY, by="Ольга", at=MORNING)

    assert history()[-1] == ("unskipped", "Ольга", "2026-03-29")


def test_a_plan_by_the_clock_is_of_no_person() -> None:
    make_schedule()
    make_fundraiser()

    planning.plan_due_broadcast(at=MORNING)

    assert history() == [("planned", "", "")]


def test_a_missed_morning_says_so() -> None:
    make_schedule()

    planning.plan_due_broadcast(at=MORNING + timedelta(hours=3))

    (change,) = Change.objects.filter(broadcast__date=DAY)
    assert (change.what, change.by, change.reason) == ("expired", "", reasons.MISSED)


@pytest.mark.parametrize("status", ["planned", "finished", "cancelled"])
def test_a_refused_act_leaves_no_trace(status: str) -> None:
    broadcast = make_in(status)

    with pytest.raises(CannotChange):
        control.resume(broadcast, by="Ольга", at=MORNING)

    assert history() == []

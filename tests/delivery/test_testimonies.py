"""Who may send: a database that the outside knows, and no copy of it."""

from datetime import timedelta

import pytest

from delivery import control, locks, planning, reasons
from delivery.models import Broadcast, DailySchedule, SendingLock
from tests.delivery.locking import ELSEWHERE, make_lock, make_locked, reason, told
from tests.delivery.morning import DAY, MORNING
from tests.factories import make_broadcast, make_fundraiser, make_subscriber

pytestmark = pytest.mark.django_db


def test_without_a_testimony_nothing_is_locked() -> None:
    make_lock()

    assert not locks.compare([], at=MORNING).is_locked


@pytest.mark.parametrize(
    ("number", "elsewhere", "expected"),
    [
        (6, False, ""),  # a write to Telegram that got lost
        (7, False, ""),
        (8, False, reasons.COPY),
        (10**15 - 1, False, reasons.COPY),
        (3, True, reasons.ANOTHER),
        (8, True, reasons.ANOTHER),
    ],
)
def test_a_testimony_of_somebody_else_locks(number: int, elsewhere: bool, expected: str) -> None:  # noqa: FBT001
    make_lock()

    locks.compare([told(number, **({"home": ELSEWHERE} if elsewhere else {}))], at=MORNING)

    assert reason() == expected


def test_each_chats_testimony_counts_in_any_order() -> None:
    make_lock()

    locks.compare([told(6), told(3, home=ELSEWHERE), told(7)], at=MORNING)

    assert reason() == reasons.ANOTHER


def test_a_number_that_was_committed_and_never_written_outside_does_not_lock() -> None:
    make_lock()
    locks.advance([told(7)], at=MORNING)  # then a kill

    written = locks.advance([told(7)], at=MORNING)

    assert written == told(9, day=DAY)


def test_a_locked_database_writes_nothing_outside() -> None:
    make_locked()

    assert locks.advance([], at=MORNING) is None
    assert SendingLock.load().number == 7


def test_a_day_that_another_copy_sent_is_not_planned_after_the_unlock() -> None:
    make_lock()
    make_fundraiser()
    make_subscriber()
    DailySchedule.objects.create(is_enabled=True, effective_from=MORNING - timedelta(days=1))

    locks.compare([told(8, day=DAY)], at=MORNING)
    locks.unlock(testimonies=[told(8, day=DAY)], by="Ольга", at=MORNING)
    planned = planning.plan_due_broadcast(at=MORNING)

    assert planned is None
    row = Broadcast.objects.get(date=DAY)
    assert (row.status, row.reason) == ("expired", reasons.SENT_ELSEWHERE)
    assert planning.start_broadcast(at=MORNING, by="Ольга", now=True).deliveries.count() == 1


def test_the_day_is_kept_from_planning_also_where_the_lock_came_first() -> None:
    make_locked(reason=reasons.RESTORED)

    locks.unlock(testimonies=[told(7, day=DAY, home=ELSEWHERE)], by="Ольга", at=MORNING)

    assert Broadcast.objects.get(date=DAY).reason == reasons.SENT_ELSEWHERE


def test_a_day_that_was_recorded_as_missed_before_the_look_outside_is_known_as_begun_elsewhere() -> None:
    make_lock()
    Broadcast.objects.create(date=DAY, status="expired", reason=reasons.MISSED)

    locks.compare([told(8, day=DAY)], at=MORNING)

    assert Broadcast.objects.get().reason == reasons.SENT_ELSEWHERE


def test_a_skip_in_a_copy_of_a_day_that_the_original_began_gives_nothing_back_to_the_hour() -> None:
    make_lock()
    Broadcast.objects.create(date=DAY, status="skipped", reason="ж" * 200)
    locks.compare([told(8, day=DAY)], at=MORNING)

    control.unskip(DAY, by="Ольга", at=MORNING)

    row = Broadcast.objects.get()
    assert (row.status, row.reason) == ("expired", reasons.SENT_ELSEWHERE)


def test_a_day_that_has_its_broadcast_keeps_it() -> None:
    make_lock()
    broadcast = make_broadcast(date=DAY)

    locks.compare([told(8, day=DAY)], at=MORNING)

    broadcast.refresh_from_db()
    assert (broadcast.status, broadcast.reason) == ("paused", reasons.LOCKED)

"""Alerts that begin something which will end: each is closed by whatever ends it, and by nothing else."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from delivery import brakes, control, locks, planning, reasons
from delivery.models import Broadcast, SendingLock
from delivery.sweeping import sweep
from tests.delivery.morning import DAY, MIDNIGHT, MORNING
from tests.delivery.traces import conditions
from tests.factories import make_broadcast, make_delivery, make_fundraiser, make_schedule

pytestmark = pytest.mark.django_db

AFTER_THE_WINDOW = MORNING + timedelta(hours=3)


@pytest.fixture(autouse=True)
def from_info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")


def finish(broadcast: Broadcast) -> None:
    broadcast.deliveries.update(status="sent", message_id="1")
    sweep(at=MORNING)


@pytest.mark.parametrize(
    "end",
    [
        lambda broadcast: control.resume(broadcast, by="Ольга", at=MORNING),
        lambda broadcast: control.cancel(broadcast, by="Ольга", at=MORNING),
        finish,
        lambda _: sweep(at=MIDNIGHT),
    ],
    ids=["resumed", "cancelled", "finished", "its day is over"],
)
def test_a_pause_is_over_with_whatever_ends_it(
    end: Callable[[Broadcast], None], caplog: pytest.LogCaptureFixture
) -> None:
    broadcast = make_broadcast(date=DAY, status="sending")
    make_delivery(broadcast)
    brakes.pause(broadcast.pk, reason=reasons.TEXT_REFUSED)

    end(broadcast)

    assert conditions(caplog) == [f"opens broadcast:{DAY}", f"closes broadcast:{DAY}"]


def test_a_morning_that_reached_nobody_is_over_when_somebody_gets_it_or_the_next_one_is_planned(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    make_schedule()
    make_fundraiser()
    broadcast = make_broadcast(date=DAY, status="sending")

    sweep(at=MORNING)
    opened = conditions(caplog)[-1]
    caplog.clear()
    make_delivery(broadcast, status="sent", message_id="77")  # a newcomer's
    Broadcast.objects.update(status="sending")
    sweep(at=MORNING)
    reached = conditions(caplog)
    caplog.clear()
    planning.plan_due_broadcast(at=MORNING + timedelta(days=1))

    assert opened == f"opens {brakes.REACHED_NOBODY}"
    assert f"closes {brakes.REACHED_NOBODY}" in reached
    assert f"closes {brakes.REACHED_NOBODY}" in conditions(caplog)


@pytest.mark.parametrize(
    "end",
    [
        lambda: planning.start_broadcast(by="Ольга", at=AFTER_THE_WINDOW, now=True),
        lambda: control.skip(DAY, reason="траур", by="Ольга", at=AFTER_THE_WINDOW),
        lambda: planning.plan_due_broadcast(at=MORNING + timedelta(days=1)),
    ],
    ids=["sent after all", "skipped", "the next day's is planned"],
)
def test_a_missed_morning_is_over_when_one_is_planned_or_it_is_skipped(
    end: Callable[[], object], caplog: pytest.LogCaptureFixture
) -> None:
    make_schedule()
    make_fundraiser()
    planning.plan_due_broadcast(at=AFTER_THE_WINDOW)

    end()

    assert conditions(caplog)[:2] == [f"opens planning:{DAY}", f"closes planning:{DAY}"]


def test_a_second_missed_morning_is_an_alert_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    make_schedule()
    next_day = DAY + timedelta(days=1)

    for days in range(2):
        planning.plan_due_broadcast(at=AFTER_THE_WINDOW + timedelta(days=days))

    assert conditions(caplog) == [f"opens planning:{DAY}", f"closes planning:{DAY}", f"opens planning:{next_day}"]


def test_a_missed_morning_is_over_though_nothing_was_at_work_on_the_next(caplog: pytest.LogCaptureFixture) -> None:
    make_schedule()
    make_fundraiser()
    planning.plan_due_broadcast(at=AFTER_THE_WINDOW)

    planning.plan_due_broadcast(at=MORNING + timedelta(days=2))

    assert conditions(caplog)[:2] == [f"opens planning:{DAY}", f"closes planning:{DAY}"]


def test_a_day_that_is_skipped_beforehand_closes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    make_schedule()

    control.skip(DAY + timedelta(days=1), reason="траур", by="Ольга", at=MORNING)

    assert conditions(caplog) == []


def test_a_lock_is_over_when_a_person_unlocks(caplog: pytest.LogCaptureFixture) -> None:
    locks.look(at=MORNING)
    SendingLock.objects.update(home="0123abcd")
    locks.look(at=MORNING)

    locks.unlock(testimonies=[], by="Ольга", at=MORNING)

    assert conditions(caplog) == ["opens lock", "closes lock"]

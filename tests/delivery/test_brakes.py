"""Holds: how long, how they grow, what ends them, and that PostgreSQL keeps them."""

from collections.abc import Callable
from datetime import date, datetime, timedelta

import pytest
import redis

from delivery import brakes, control, ledger, reasons
from delivery.books import books_of
from delivery.models import Broadcast
from posts import clock
from tests.delivery.running import make_proven, turn
from tests.delivery.together import together
from tests.delivery.traces import conditions
from tests.factories import LONG_AGO, make_broadcast, make_delivery

pytestmark = pytest.mark.django_db


def held_for(broadcast: Broadcast) -> int:
    """Seconds of the hold that begins now."""
    broadcast.refresh_from_db()
    assert broadcast.hold_until
    return round((broadcast.hold_until - clock.now()).total_seconds())


def end_hold(broadcast: Broadcast) -> None:
    """As if its time had gone by."""
    Broadcast.objects.filter(pk=broadcast.pk).update(hold_until=LONG_AGO)


def test_each_hold_in_a_row_is_twice_as_long_up_to_five_minutes() -> None:
    broadcast = make_proven()
    waits = []

    for _ in range(8):
        brakes.back_off(broadcast.pk, reason=reasons.NO_ANSWERS)
        waits.append(held_for(broadcast))
        end_hold(broadcast)

    assert waits == [10, 20, 40, 80, 160, 320, 320, 320]


def test_a_hold_is_of_one_broadcast_alone_and_goes_by_the_sandbox_clock(
    set_clock: Callable[[datetime], None],
) -> None:
    set_clock(clock.now() + timedelta(days=1))
    broadcast, other = make_proven(), make_proven(date=clock.now().date())

    brakes.back_off(broadcast.pk, reason=reasons.NO_ANSWERS)
    first = held_for(broadcast)
    set_clock(clock.now() + timedelta(days=1))
    brakes.back_off(broadcast.pk, reason=reasons.NO_ANSWERS)

    other.refresh_from_db()
    assert (first, held_for(broadcast), other.hold_until) == (10, 20, None)


def test_ten_minutes_of_outage_cost_six_probes() -> None:
    broadcast, at, probes = make_proven(), 0, 0

    while at < 600 and probes < 20:
        brakes.back_off(broadcast.pk, reason=reasons.NO_ANSWERS)
        at += held_for(broadcast)
        end_hold(broadcast)
        probes += 1

    assert probes == 6


def test_holds_begin_anew_after_a_success() -> None:
    broadcast = make_proven()
    for _ in range(3):
        brakes.back_off(broadcast.pk, reason=reasons.NO_ANSWERS)
        end_hold(broadcast)

    brakes.prove(broadcast.pk, claimed_at=clock.now())
    broadcast.refresh_from_db()
    is_free = broadcast.hold_until is None and broadcast.reason == ""
    brakes.back_off(broadcast.pk, reason=reasons.NO_ANSWERS)

    assert is_free
    assert held_for(broadcast) == 10


def test_holds_begin_anew_after_a_person_resumed() -> None:
    broadcast = make_proven(date=clock.local_date(clock.now()), holds_in_a_row=5)
    control.pause(broadcast, by="Ольга")

    control.resume(broadcast, by="Ольга", at=clock.now() - timedelta(seconds=1))
    brakes.back_off(broadcast.pk, reason=reasons.NO_ANSWERS)

    assert held_for(broadcast) == 10


@pytest.mark.django_db(transaction=True)
def test_calls_that_fail_at_the_same_moment_are_one_hold() -> None:
    broadcast = make_proven()

    together(*[lambda: brakes.back_off(broadcast.pk, reason=reasons.OUT_OF_REACH)] * 8)

    assert held_for(broadcast) == 10
    assert broadcast.holds_in_a_row == 1


def test_a_late_failure_of_the_same_outage_neither_lengthens_nor_counts() -> None:
    broadcast = make_proven(holds_in_a_row=2, hold_until=clock.now() + timedelta(seconds=5))

    brakes.back_off(broadcast.pk, reason=reasons.OUT_OF_REACH)

    assert held_for(broadcast) == 5
    assert broadcast.holds_in_a_row == 2


def test_a_shorter_flood_does_not_cut_a_hold_short_and_a_longer_one_lengthens_it() -> None:
    broadcast = make_proven(hold_until=clock.now() + timedelta(seconds=60))

    brakes.hold(broadcast.pk, wait=timedelta(seconds=5))
    after_short = held_for(broadcast)
    brakes.hold(broadcast.pk, wait=timedelta(seconds=90))

    assert (after_short, held_for(broadcast)) == (60, 90)


def test_a_paused_broadcast_keeps_its_reason_and_telegrams_wait() -> None:
    broadcast = make_proven(status="paused", reason=reasons.TEXT_REFUSED)

    brakes.back_off(broadcast.pk, reason=reasons.NO_ANSWERS)
    brakes.hold(broadcast.pk, wait=timedelta(seconds=30))

    assert held_for(broadcast) == 30
    assert (broadcast.reason, broadcast.holds_in_a_row) == (reasons.TEXT_REFUSED, 0)


def test_a_probe_that_was_claimed_before_a_hold_does_not_end_it() -> None:
    broadcast = make_proven()
    claimed_at = clock.now()
    brakes.hold(broadcast.pk, wait=timedelta(seconds=30))

    brakes.prove(broadcast.pk, claimed_at=claimed_at)

    assert held_for(broadcast) == 30
    assert broadcast.reason == reasons.FLOODED


def test_nobody_is_claimed_during_a_hold_and_one_alone_after_it(broker: redis.Redis) -> None:
    broadcast = make_proven()
    for _ in range(5):
        make_delivery(broadcast)
    brakes.back_off(broadcast.pk, reason=reasons.NO_ANSWERS)
    broker.flushall()  # Valkey knows nothing of holds

    during = [*turn(broadcast), ledger.win_probe(broadcast_id=broadcast.pk, is_upload=False)]
    end_hold(broadcast)
    without_probe = turn(broadcast)
    won = [ledger.win_probe(broadcast_id=broadcast.pk, is_upload=False) for _ in range(2)]

    assert during == [False]
    assert without_probe == []
    assert won == [True, False]


@pytest.mark.django_db(transaction=True)
def test_of_many_senders_after_a_hold_one_wins_the_probe() -> None:
    broadcast = make_proven()
    brakes.back_off(broadcast.pk, reason=reasons.NO_ANSWERS)
    end_hold(broadcast)

    won = together(*[lambda: ledger.win_probe(broadcast_id=broadcast.pk, is_upload=False)] * 8)

    assert won.count(True) == 1


@pytest.mark.parametrize("reason", [reasons.FLOODED, reasons.OUT_OF_REACH, reasons.NO_ANSWERS])
def test_the_books_say_why_it_is_on_hold(reason: str) -> None:
    broadcast = make_broadcast()

    if reason == reasons.FLOODED:
        brakes.hold(broadcast.pk, wait=timedelta(seconds=30))
    else:
        brakes.back_off(broadcast.pk, reason=reason)

    books = books_of(broadcast.date)
    assert books
    assert (books["reason"], books["paused_because"]) == (reason, "")
    assert books["hold_until"]


@pytest.mark.parametrize("status", ["finished", "cancelled", "expired"])
def test_what_is_over_is_not_held(status: str) -> None:
    broadcast = make_broadcast(status=status, reason="so", finished_at=clock.now())

    brakes.back_off(broadcast.pk, reason=reasons.NO_ANSWERS)
    brakes.hold(broadcast.pk, wait=timedelta(seconds=30))

    broadcast.refresh_from_db()
    assert (broadcast.hold_until, broadcast.reason) == (None, "so")


def test_a_pause_by_hand_is_no_alert_and_one_by_itself_is(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    by_hand, by_itself = make_proven(), make_proven(date=date(2026, 3, 30))

    brakes.pause(by_hand.pk, reason=reasons.PAUSED_BY_HAND, by="Ольга")
    brakes.pause(by_itself.pk, reason=reasons.TOKEN_REFUSED)

    assert [record.levelname for record in caplog.records if "paused" in record.message] == ["INFO", "ERROR"]
    assert conditions(caplog) == ["opens broadcast:2026-03-30"]

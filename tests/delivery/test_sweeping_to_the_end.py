"""The sweep finishes what is done, goes on with what is not, and closes what an earlier day left open."""

from datetime import timedelta

import pytest
import redis

from delivery import sweeping
from delivery.models import Broadcast
from delivery.sweeping import sweep
from tests.delivery.morning import DAY, MORNING
from tests.delivery.running import make_sending
from tests.delivery.traces import errors, queued
from tests.factories import make_broadcast, make_delivery

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


def test_a_broadcast_with_nothing_pending_and_nothing_in_flight_is_finished(broker: redis.Redis) -> None:
    broadcast = make_broadcast(status="sending", hold_until=MORNING, holds_in_a_row=3)
    for status in ("sent", "skipped", "failed", "unknown"):
        make_delivery(broadcast, status=status, reason="so", message_id="77")

    sweep(at=MORNING)

    broadcast.refresh_from_db()
    assert (broadcast.status, broadcast.finished_at) == ("finished", MORNING)
    assert (broadcast.hold_until, broadcast.holds_in_a_row) == (None, 0)  # newcomers begin anew
    assert queued(broker) == []


@pytest.mark.parametrize("status", ["pending", "sending"])
def test_a_broadcast_with_an_open_row_goes_on_in_every_slot(status: str, broker: redis.Redis) -> None:
    broadcast = make_broadcast(status="sending")
    make_sending(broadcast, status=status)

    sweep(at=MORNING)

    broadcast.refresh_from_db()
    assert (broadcast.status, broadcast.finished_at) == ("sending", None)
    wanted = [message["body"][1] for message in queued(broker)]
    assert sorted(one["slot"] for one in wanted) == [0, 1]
    assert {one["broadcast_id"] for one in wanted} == {broadcast.pk}


@pytest.mark.parametrize(
    ("states", "words"),
    [
        ([], "Nobody is subscribed yet, so nobody got the fundraiser of"),
        (["skipped", "failed", "unknown"], "Nobody is known to have got the fundraiser of"),
    ],
)
def test_a_broadcast_to_nobody_is_finished_at_once_and_told_once(
    states: list[str], words: str, caplog: pytest.LogCaptureFixture
) -> None:
    broadcast = make_broadcast(status="planned")
    for state in states:
        make_delivery(broadcast, status=state, reason="so")

    sweep(at=MORNING)
    told = errors(caplog)
    Broadcast.objects.update(status="sending")  # as for a newcomer who left again
    sweep(at=MORNING + MINUTE)

    broadcast.refresh_from_db()
    assert broadcast.status == "finished"
    assert len(told) == 1
    assert told[0].startswith(f"{words} {broadcast.date}.")
    assert errors(caplog) == told


def test_a_broadcast_that_one_person_got_is_finished_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    broadcast = make_broadcast(status="sending")
    make_delivery(broadcast, status="sent", message_id="77")
    make_delivery(broadcast, status="failed", reason="so")

    sweep(at=MORNING)

    assert errors(caplog) == []


@pytest.mark.parametrize("status", ["paused", "cancelled", "expired", "skipped"])
def test_a_broadcast_that_does_not_run_is_neither_closed_nor_sent(status: str, broker: redis.Redis) -> None:
    broadcast = make_broadcast(date=DAY, status=status, reason="so")
    make_delivery(broadcast)

    sweep(at=MORNING)

    broadcast.refresh_from_db()
    assert (broadcast.status, broadcast.finished_at) == (status, None)
    assert queued(broker) == []


def test_closing_what_was_closed_keeps_the_first_finish() -> None:
    broadcast = make_broadcast(status="sending", finished_at=MORNING)

    assert sweeping.close_if_done(broadcast.pk, at=MORNING + MINUTE)

    broadcast.refresh_from_db()
    assert (broadcast.status, broadcast.finished_at) == ("finished", MORNING)
    assert sweeping.close_if_done(broadcast.pk, at=MORNING + MINUTE)


def test_an_answer_that_tells_after_the_finish_that_nothing_was_sent_opens_the_broadcast_again() -> None:
    broadcast = make_broadcast(status="finished", finished_at=MORNING)
    make_delivery(broadcast)
    done = make_broadcast(date=MORNING.date() - timedelta(days=1), status="finished", finished_at=MORNING)

    sweep(at=MORNING + MINUTE)

    broadcast.refresh_from_db()
    done.refresh_from_db()
    assert (broadcast.status, broadcast.finished_at) == ("sending", MORNING)
    assert done.status == "finished"


def test_what_an_earlier_day_left_open_expires_with_its_rows() -> None:
    yesterday = make_broadcast(date=DAY - timedelta(days=1), status="paused", reason="quiet hour")
    left = make_delivery(yesterday)

    sweep(at=MORNING)

    yesterday.refresh_from_db()
    left.refresh_from_db()
    assert (yesterday.status, yesterday.reason) == ("expired", "its day is over")
    assert (left.status, left.reason) == ("skipped", "expired")


def test_a_complete_morning_that_was_paused_is_finished_not_expired() -> None:
    paused = make_broadcast(date=DAY - timedelta(days=1), status="paused", reason="paused by hand")
    make_delivery(paused, status="sent", message_id="7")

    sweep(at=MORNING)

    paused.refresh_from_db()
    assert (paused.status, paused.reason) == ("finished", "")


def test_a_late_not_sent_on_an_earlier_day_opens_nothing() -> None:
    finished = make_broadcast(date=DAY - timedelta(days=1), status="finished", finished_at=MORNING)
    left = make_delivery(finished)

    sweep(at=MORNING)

    finished.refresh_from_db()
    left.refresh_from_db()
    assert (finished.status, left.status, left.reason) == ("finished", "skipped", "expired")
    assert left.settled_at == MORNING

from datetime import timedelta
from threading import Event
from uuid import uuid4

import pytest
import redis
from django.db import transaction
from pytest_django import DjangoCaptureOnCommitCallbacks

from delivery import brakes, control, freezing, ledger, reasons, sweeping, unknowns
from delivery.history import Change
from delivery.models import Broadcast, Delivery, SendingLock
from delivery.refusals import CannotChange
from posts import clock
from subscribers.models import Subscriber
from tests.delivery.morning import DAY, MIDNIGHT, MORNING, local
from tests.delivery.running import make_proven, sent, turn
from tests.delivery.together import together, waits_for_lock
from tests.delivery.traces import queued
from tests.factories import make_broadcast, make_delivery, make_fundraiser

pytestmark = pytest.mark.django_db

WHY, WHO = "Пишуть, що отримали", "Ольга"


def make_unknown(broadcast: Broadcast) -> Delivery:
    return make_delivery(
        broadcast, status="unknown", reason="no answer", token=uuid4(), claimed_at=MORNING, settled_at=MORNING
    )


def make_finished(**facts: object) -> Broadcast:
    return make_broadcast(**{"status": "finished", "finished_at": MORNING, "first_sent_at": MORNING} | facts)


def confirm(broadcast: Broadcast, *, reason: str = WHY) -> int:
    return unknowns.confirm_arrived(broadcast, Delivery.objects.all(), reason=reason, by=WHO, at=local(9))


def send_again(broadcast: Broadcast, *, reason: str = WHY) -> int:
    return unknowns.send_again(broadcast, Delivery.objects.all(), reason=reason, by=WHO, at=local(9))


def test_what_a_person_says_to_have_arrived_counts_as_sent_and_says_so() -> None:
    broadcast = make_finished()
    delivery = make_unknown(broadcast)

    assert confirm(broadcast) == 1

    delivery.refresh_from_db()
    assert (delivery.status, delivery.settled_at) == ("sent", local(9))
    assert delivery.reason == f"confirmed by hand: {WHY}"


def test_a_long_reason_is_cut_to_what_the_row_holds() -> None:
    broadcast = make_finished()
    delivery = make_unknown(broadcast)

    unknowns.confirm_arrived(broadcast, Delivery.objects.all(), reason="ж" * 300, by=WHO, at=local(9))

    delivery.refresh_from_db()
    assert len(delivery.reason) == 200


def test_what_is_sent_again_waits_for_its_turn_in_a_broadcast_that_runs_until_midnight(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks, broker: redis.Redis
) -> None:
    broadcast = make_finished(run_until=local(8, 30), revision=2)
    delivery = make_unknown(broadcast)

    with django_capture_on_commit_callbacks(execute=True):
        assert send_again(broadcast) == 1

    broadcast.refresh_from_db()
    delivery.refresh_from_db()
    assert (broadcast.status, broadcast.run_until) == ("sending", MIDNIGHT)
    assert (delivery.status, delivery.reason, delivery.not_before) == ("pending", "", local(9))
    assert (delivery.revision, delivery.settled_at, delivery.token) == (2, None, None)
    assert {message["body"][1]["broadcast_id"] for message in queued(broker)} == {broadcast.pk}


def test_a_late_answer_to_the_first_call_does_not_count_after_it_was_sent_again() -> None:
    broadcast = make_proven(date=clock.local_date(clock.now()))
    make_delivery(broadcast)
    (claim,) = turn(broadcast)
    Delivery.objects.update(status="unknown", reason="no answer")
    again = clock.now() - timedelta(seconds=1)

    unknowns.send_again(broadcast, Delivery.objects.all(), reason=WHY, by=WHO, at=again)
    ledger.turn(
        broadcast_id=broadcast.pk, results=[sent(claim)], want=0, revision=broadcast.revision, token=claim.token
    )

    assert Delivery.objects.get().status == "pending"


def test_only_what_is_unknown_and_of_this_broadcast_is_touched() -> None:
    broadcast, other = make_finished(), make_finished(date=DAY + timedelta(days=1))
    make_unknown(broadcast)
    for status, facts in {
        "sent": {"message_id": "7"},
        "skipped": {"reason": "left"},
        "failed": {"reason": "so"},
    }.items():
        make_delivery(broadcast, status=status, **facts)
    elsewhere = make_unknown(other)

    assert confirm(broadcast) == 1
    assert send_again(broadcast) == 0

    elsewhere.refresh_from_db()
    assert elsewhere.status == "unknown"
    assert sorted(broadcast.deliveries.values_list("status", flat=True)) == ["failed", "sent", "sent", "skipped"]


def test_a_paused_broadcast_stays_paused_with_what_is_to_be_sent_again() -> None:
    broadcast = make_broadcast(status="paused", reason=reasons.PAUSED_BY_HAND)
    make_unknown(broadcast)

    assert send_again(broadcast) == 1

    broadcast.refresh_from_db()
    assert broadcast.status == "paused"


@pytest.mark.parametrize("reason", ["", "  \n"])
@pytest.mark.parametrize("act", [confirm, send_again])
def test_nothing_is_said_of_unknown_messages_without_a_reason(act: object, reason: str) -> None:
    broadcast = make_finished()
    make_unknown(broadcast)

    with pytest.raises(CannotChange, match="say why"):
        act(broadcast, reason=reason)  # type: ignore[operator]

    assert Delivery.objects.get().status == "unknown"


def test_yesterdays_messages_are_not_sent_again_but_may_have_arrived() -> None:
    broadcast = make_finished(date=DAY - timedelta(days=1))
    make_unknown(broadcast)

    with pytest.raises(CannotChange, match="the day of this broadcast, 2026-03-28, is over"):
        send_again(broadcast)

    assert confirm(broadcast) == 1


@pytest.mark.parametrize("status", ["cancelled", "expired"])
def test_what_was_stopped_for_good_sends_nothing_again(status: str) -> None:
    broadcast = make_broadcast(status=status, reason="so")
    make_unknown(broadcast)

    with pytest.raises(CannotChange, match=f"this broadcast is {status} already"):
        send_again(broadcast)

    assert Delivery.objects.get().status == "unknown"


def test_nothing_is_sent_again_while_sending_is_locked() -> None:
    broadcast = make_finished()
    make_unknown(broadcast)
    SendingLock.objects.create(locked_at=MORNING, reason=reasons.COPY)

    with pytest.raises(CannotChange, match="Sending is locked: another copy of this database has sent since"):
        send_again(broadcast)

    assert Delivery.objects.get().status == "unknown"


def test_who_said_what_of_how_many_and_why_is_kept() -> None:
    broadcast = make_finished()
    make_unknown(broadcast)
    send_again(broadcast)
    Delivery.objects.update(status="unknown", reason="no answer")
    make_unknown(broadcast)

    confirm(broadcast)
    confirm(broadcast)  # nothing is left: nothing is noted

    assert {change.broadcast for change in Change.objects.all()} == {broadcast}
    assert [(change.what, change.by, change.reason) for change in Change.objects.all()] == [
        ("sent_again", WHO, f"1: {WHY}"),
        ("arrived", WHO, f"2: {WHY}"),
    ]


@pytest.mark.parametrize("end", ["cancelled", "left", "quiet hour"])
def test_what_was_sent_again_and_then_stopped_stays_unknown(end: str) -> None:
    broadcast = make_finished(date=DAY)
    delivery = make_unknown(broadcast)
    send_again(broadcast)

    if end == "cancelled":
        control.cancel(broadcast, by=WHO, at=local(9))
    elif end == "left":
        Subscriber.objects.update(left_at=MORNING, left_reason="stopped")
        sweeping.skip_left(at=local(9))
    else:
        Broadcast.objects.update(run_until=local(8, 59))
        sweeping.pause_at_quiet_hour(at=local(9))

    delivery.refresh_from_db()
    assert (delivery.status, delivery.reason) == ("unknown", end)


def test_no_other_text_is_taken_while_a_message_that_is_sent_again_may_be_out() -> None:
    broadcast = make_finished(date=DAY, fundraiser=make_fundraiser())
    make_unknown(broadcast)
    send_again(broadcast)
    brakes.pause(broadcast.pk, reason="so")

    with pytest.raises(CannotChange, match="out already"):
        freezing.refreeze(broadcast, by=WHO)


@pytest.mark.django_db(transaction=True)
def test_sending_again_and_a_late_answer_that_holds_the_broadcast_do_not_wait_for_each_other() -> None:
    broadcast = make_proven(date=DAY)
    make_delivery(broadcast)
    (claim,) = turn(broadcast)
    Delivery.objects.update(status="unknown", reason="no answer")
    has_row = Event()

    def answer_slowly() -> int:
        with transaction.atomic():
            turn(broadcast, sent(claim), want=0)
            has_row.set()
            waits = waits_for_lock()
            brakes.hold(broadcast.pk, wait=timedelta(seconds=1))
        return int(waits)

    def again() -> int:
        has_row.wait(10)
        return send_again(broadcast)

    assert together(answer_slowly, again) == [1, 0]
    assert Delivery.objects.get().status == "sent"

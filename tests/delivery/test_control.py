from datetime import timedelta

import pytest
import redis
from pytest_django import DjangoCaptureOnCommitCallbacks

from delivery import control, ledger
from delivery.models import Broadcast, Delivery
from delivery.refusals import CannotChange
from posts import clock
from tests.delivery.morning import DAY, MIDNIGHT, MORNING, QUIET, local
from tests.delivery.running import make_proven, turn
from tests.delivery.traces import queued
from tests.factories import make_broadcast, make_delivery

pytestmark = pytest.mark.django_db
Status = Broadcast.Status


def make_in(status: str) -> Broadcast:
    return make_broadcast(date=DAY, status=status, reason="so", finished_at=MORNING)


# Pause.


@pytest.mark.parametrize("status", ["planned", "sending"])
def test_a_paused_broadcast_claims_nothing_and_says_who_stopped_it(status: str) -> None:
    broadcast = make_proven(status=status)
    make_delivery(broadcast)

    control.pause(broadcast, by="Ольга")

    broadcast.refresh_from_db()
    assert (broadcast.status, broadcast.reason) == ("paused", "paused by hand")
    assert turn(broadcast) == []
    assert Delivery.objects.get().status == "pending"


@pytest.mark.parametrize("status", ["paused", "finished", "cancelled", "expired", "skipped"])
def test_only_a_running_broadcast_is_paused(status: str) -> None:
    broadcast = make_in(status)

    with pytest.raises(CannotChange, match=f"only a running broadcast can be paused; this one is {status}"):
        control.pause(broadcast, by="Ольга")

    assert Broadcast.objects.get().reason == "so"


# Resume.


def test_a_resumed_broadcast_runs_until_midnight_beginning_with_a_probe(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks, broker: redis.Redis
) -> None:
    moments = {"begin_until": local(10), "run_until": QUIET, "probe_until": MIDNIGHT}
    broadcast = make_proven(date=DAY, status="paused", reason="quiet hour", **moments)
    make_delivery(broadcast)

    with django_capture_on_commit_callbacks(execute=True):
        control.resume(broadcast, by="Ольга", at=local(22, 30))

    broadcast.refresh_from_db()
    assert (broadcast.status, broadcast.reason, broadcast.run_until) == ("sending", "", MIDNIGHT)
    assert (broadcast.hold_until, broadcast.probe_until, broadcast.begin_until) == (local(22, 30), None, None)
    assert {message["body"][1]["broadcast_id"] for message in queued(broker)} == {broadcast.pk}


def test_a_resumed_broadcast_is_proved_again_by_one_message() -> None:
    broadcast = make_proven(date=clock.local_date(clock.now()), status="paused", reason="so")
    make_delivery(broadcast)

    control.resume(broadcast, by="Ольга", at=clock.now() - timedelta(seconds=1))

    assert turn(broadcast) == []
    assert ledger.win_probe(broadcast_id=broadcast.pk, is_upload=False)
    assert len(turn(broadcast, is_probe=True)) == 1


def test_a_resume_does_not_cut_telegrams_wait_short() -> None:
    broadcast = make_broadcast(date=DAY, status="paused", reason="so", hold_until=local(12))

    control.resume(broadcast, by="Ольга", at=local(11))

    broadcast.refresh_from_db()
    assert broadcast.hold_until == local(12)


@pytest.mark.parametrize("status", [status for status in Status if status != Status.PAUSED])
def test_only_a_paused_broadcast_is_resumed(status: str, broker: redis.Redis) -> None:
    broadcast = make_in(status)

    with pytest.raises(CannotChange, match=f"only a paused broadcast can be resumed; this one is {status}"):
        control.resume(broadcast, by="Ольга", at=MORNING)

    assert Broadcast.objects.get().status == status


def test_yesterdays_broadcast_is_not_resumed() -> None:
    broadcast = make_in("paused")

    with pytest.raises(CannotChange, match="the day of this broadcast, 2026-03-29, is over"):
        control.resume(broadcast, by="Ольга", at=MIDNIGHT)

    assert Broadcast.objects.get().status == "paused"


def test_a_resume_is_of_one_broadcast_alone() -> None:
    paused = make_in("paused")
    other = make_broadcast(date=DAY - timedelta(days=1), status="paused", reason="so")

    control.resume(paused, by="Ольга", at=MORNING)

    other.refresh_from_db()
    assert other.status == "paused"


# Cancel.


@pytest.mark.parametrize("status", ["planned", "sending", "paused"])
def test_a_cancelled_broadcast_skips_what_is_pending_and_keeps_what_was_sent(status: str) -> None:
    broadcast = make_in(status)
    pending = make_delivery(broadcast)
    sent = make_delivery(broadcast, status="sent", message_id="77")

    control.cancel(broadcast, by="Ольга", at=MORNING)

    broadcast.refresh_from_db()
    pending.refresh_from_db()
    sent.refresh_from_db()
    assert (broadcast.status, broadcast.reason) == ("cancelled", "cancelled by hand")
    assert (pending.status, pending.reason, pending.settled_at) == ("skipped", "cancelled", MORNING)
    assert sent.status == "sent"


@pytest.mark.parametrize("status", ["finished", "cancelled", "expired", "skipped"])
def test_a_broadcast_that_is_over_is_not_cancelled(status: str) -> None:
    broadcast = make_in(status)

    with pytest.raises(CannotChange, match=f"this broadcast is {status} already"):
        control.cancel(broadcast, by="Ольга", at=clock.now())

    assert Broadcast.objects.get().status == status

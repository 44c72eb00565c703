from datetime import date, timedelta
from threading import Event

import pytest
import redis
from django.db import transaction
from pytest_django import DjangoCaptureOnCommitCallbacks

from delivery import control, ledger, planning, reasons
from delivery.models import Broadcast, Delivery
from delivery.refusals import AlreadyPlanned, CannotChange
from posts import clock
from tests.delivery.morning import DAY, MIDNIGHT, MORNING, QUIET, local
from tests.delivery.running import make_proven, turn
from tests.delivery.together import together, waits_for_lock
from tests.delivery.traces import queued
from tests.factories import make_broadcast, make_delivery, make_fundraiser, make_schedule

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


# Skip.


@pytest.mark.parametrize("days", [0, 1, 30])
def test_a_skipped_date_has_its_row_and_reason_and_is_not_planned(days: int) -> None:
    day = DAY + timedelta(days=days)
    make_fundraiser()

    control.skip(day, reason="День жалоби", by="Ольга", at=MORNING)

    row = Broadcast.objects.get()
    assert (row.date, row.status, row.reason) == (day, "skipped", "День жалоби")
    with pytest.raises(AlreadyPlanned, match="is skipped: День жалоби"):
        planning.plan_broadcast(day=day, at=MORNING, run_until=QUIET)


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_a_date_is_not_skipped_without_a_reason(reason: str) -> None:
    with pytest.raises(CannotChange, match="say why"):
        control.skip(DAY, reason=reason, by="Ольга", at=MORNING)

    assert not Broadcast.objects.exists()


def test_a_long_reason_is_cut_to_what_the_row_holds() -> None:
    assert len(control.skip(DAY, reason="ж" * 300, by="Ольга", at=MORNING).reason) == 200


def test_a_past_date_is_not_skipped() -> None:
    with pytest.raises(CannotChange, match="2026-03-28 is past"):
        control.skip(DAY - timedelta(days=1), reason="so", by="Ольга", at=local(0))

    assert not Broadcast.objects.exists()


@pytest.mark.parametrize("status", list(Status))
def test_a_date_that_has_its_broadcast_is_not_skipped(status: str) -> None:
    make_in(status)

    with pytest.raises(CannotChange, match=f"the broadcast of 2026-03-29 is {status} already"):
        control.skip(DAY, reason="too late", by="Ольга", at=MORNING)

    assert Broadcast.objects.get().reason == "so"


@pytest.mark.django_db(transaction=True)
def test_a_date_is_not_skipped_while_it_is_being_planned() -> None:
    make_schedule()
    make_fundraiser()

    is_planned = Event()

    def plan_slowly() -> str:
        with transaction.atomic():
            planning.plan_due_broadcast(at=MORNING)
            is_planned.set()
            return "planned before the skip" if waits_for_lock() else ""

    def skip() -> str:
        is_planned.wait(10)
        try:
            control.skip(DAY, reason="so", by="Ольга", at=MORNING)
        except CannotChange as refusal:
            return str(refusal)
        return "skipped"

    assert together(plan_slowly, skip) == ["planned before the skip", "the broadcast of 2026-03-29 is planned already"]


@pytest.mark.django_db(transaction=True)
def test_a_tick_plans_nothing_while_the_date_is_being_skipped() -> None:
    make_schedule()
    make_fundraiser()
    is_skipped, has_ticked = Event(), Event()

    def skip_slowly() -> None:
        with transaction.atomic():
            control.skip(DAY, reason="so", by="Ольга", at=MORNING)
            is_skipped.set()
            has_ticked.wait(3)

    def tick() -> None:
        is_skipped.wait(10)
        planning.plan_due_broadcast(at=MORNING)
        has_ticked.set()

    together(skip_slowly, tick)

    assert Broadcast.objects.get().status == "skipped"


def test_a_skipped_date_that_is_given_back_is_planned_at_its_hour() -> None:
    make_fundraiser()
    make_schedule()
    control.skip(DAY, reason="so", by="Ольга", at=local(7))
    other = control.skip(DAY + timedelta(days=1), reason="so", by="Ольга", at=local(7))

    control.unskip(DAY, by="Ольга", at=local(7, 30))

    assert planning.plan_due_broadcast(at=MORNING)
    assert Broadcast.objects.get(date=other.date).status == "skipped"


def test_a_skip_taken_back_never_sends_by_itself_what_another_copy_began() -> None:
    make_fundraiser()
    make_schedule()
    Broadcast.objects.create(date=DAY, status="expired", reason=reasons.SENT_ELSEWHERE)
    skipped = control.skip(DAY, reason="люди його мають", by="Ольга", at=MORNING)

    control.unskip(DAY, by="Ольга", at=MORNING)

    assert skipped.reason == f"{reasons.SENT_ELSEWHERE}: люди його мають"
    assert planning.plan_due_broadcast(at=MORNING) is None
    row = Broadcast.objects.get()
    assert (row.status, row.reason) == ("expired", reasons.SENT_ELSEWHERE)


@pytest.mark.parametrize(
    ("day", "words"), [(DAY, "2026-03-29 is not skipped"), (DAY - timedelta(days=1), "2026-03-28 is past")]
)
def test_only_a_skipped_date_that_is_to_come_is_given_back(day: date, words: str) -> None:
    Broadcast.objects.create(date=DAY, status="expired", reason="its hour went by")

    with pytest.raises(CannotChange, match=words):
        control.unskip(day, by="Ольга", at=MORNING)

    assert Broadcast.objects.count() == 1

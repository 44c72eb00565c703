"""Taking a date off, and giving it back."""

from datetime import date, timedelta
from threading import Event

import pytest
from django.db import transaction

from delivery import control, planning, reasons
from delivery.models import Broadcast
from delivery.refusals import AlreadyPlanned, CannotChange
from tests.delivery.morning import DAY, MORNING, QUIET, local
from tests.delivery.together import together, waits_for_lock
from tests.factories import make_broadcast, make_fundraiser, make_schedule

pytestmark = pytest.mark.django_db
Status = Broadcast.Status


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
    make_broadcast(date=DAY, status=status, reason="so", finished_at=MORNING)

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

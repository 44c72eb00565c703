"""Taking the mended fundraiser's text: while nobody has the old one, and never beside it."""

from typing import Any
from uuid import uuid4

import pytest

from delivery import control, reasons, sweeping
from delivery.history import Change
from delivery.models import Broadcast, Delivery
from delivery.refusals import CannotChange, CannotPlan
from posts import clock
from tests.delivery.mending import make_paused, mend, refreeze
from tests.delivery.running import turn
from tests.factories import LONG_AGO, make_delivery, make_picture, make_subscriber

pytestmark = pytest.mark.django_db


def test_the_mended_text_is_taken_and_it_stays_paused() -> None:
    broadcast = make_paused(text="старе")
    rows = [make_delivery(broadcast), make_delivery(broadcast, status="failed", reason="no rights")]
    mend(broadcast)

    refreeze(broadcast)

    broadcast.refresh_from_db()
    assert "Виправлено" in broadcast.text
    assert (broadcast.status, broadcast.reason, broadcast.revision) == ("paused", reasons.TEXT_REFUSED, 2)
    assert [Delivery.objects.get(pk=row.pk).revision for row in rows] == [2, 2]
    assert list(Change.objects.values_list("what", "by")) == [("refrozen", "Ольга")]


def test_a_new_picture_and_other_buttons_come_along() -> None:
    picture = make_picture()
    broadcast = make_paused()
    mend(broadcast, picture=picture, picture_alt="Авто")
    old = broadcast.buttons

    refreeze(broadcast)

    broadcast.refresh_from_db()
    assert broadcast.picture_id == picture.pk
    assert broadcast.buttons != old


@pytest.mark.parametrize("status", ["sending", "sent", "unknown"])
def test_a_text_that_somebody_has_or_may_have_stays(status: str) -> None:
    broadcast = make_paused(text="старе")
    pending = make_delivery(broadcast)
    out = make_delivery(
        broadcast, status=status, message_id="77", reason="so", token=uuid4(), claimed_at=clock.now(), settled_at=None
    )
    mend(broadcast)

    with pytest.raises(CannotChange, match="is out already"):
        refreeze(broadcast)

    broadcast.refresh_from_db()
    assert (broadcast.text, broadcast.revision) == ("старе", 1)
    assert {Delivery.objects.get(pk=row.pk).revision for row in (pending, out)} == {1}


@pytest.mark.parametrize("status", [status for status in Broadcast.Status if status != "paused"])
def test_only_a_paused_broadcast_takes_another_text(status: str) -> None:
    broadcast = make_paused(status=status, finished_at=clock.now())

    with pytest.raises(CannotChange, match="only a paused broadcast"):
        refreeze(broadcast)


@pytest.mark.parametrize("facts", [{"status": "draft"}, {"text": "ж" * 5000}])
def test_a_fundraiser_that_may_not_go_out_is_not_taken(facts: dict[str, Any]) -> None:
    broadcast = make_paused(text="старе")
    mend(broadcast, **facts)

    with pytest.raises(CannotPlan):
        refreeze(broadcast)

    broadcast.refresh_from_db()
    assert (broadcast.text, broadcast.revision) == ("старе", 1)


def test_a_slice_that_still_holds_the_old_text_claims_nothing() -> None:
    broadcast = make_paused()
    make_delivery(broadcast)
    refreeze(broadcast)
    control.resume(broadcast, by="Ольга", at=clock.now())

    old = turn(broadcast, revision=1, is_probe=True)
    new = turn(broadcast, revision=2, is_probe=True)

    assert (len(old), len(new)) == (0, 1)


def test_newcomers_after_it_get_the_new_text() -> None:
    broadcast = make_paused(planned_at=clock.now())
    returned = make_subscriber(started_at=clock.now())
    make_delivery(broadcast, subscriber=returned, status="skipped", reason="left")
    refreeze(broadcast)
    Broadcast.objects.update(status="sending", reason="")
    newcomer = make_subscriber(started_at=clock.now())

    sweeping._add_rows(Broadcast.objects.get(), since=LONG_AGO, at=clock.now())

    rows = Delivery.objects.filter(subscriber__in=[returned, newcomer], status="pending")
    assert list(rows.values_list("revision", flat=True)) == [2, 2]

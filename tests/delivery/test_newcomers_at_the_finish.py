"""Newcomers to a broadcast that is finished, or is being finished at the same moment."""

from datetime import timedelta
from threading import Event

import pytest
from django.db import transaction

from delivery import ledger, sweeping
from delivery.models import Broadcast, Delivery
from delivery.sweeping import add_newcomers
from tests.delivery.coming import make_starter, make_todays
from tests.delivery.morning import local
from tests.delivery.together import together, waits_for_lock
from tests.delivery.traces import errors
from tests.factories import make_delivery

pytestmark = pytest.mark.django_db
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
NOON = local(12)


def test_a_finished_broadcast_goes_on_for_newcomers_and_keeps_its_first_finish(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broadcast = make_todays(status="finished", finished_at=local(9))
    newcomer = make_starter(NOON)

    add_newcomers(at=NOON)
    opened = Broadcast.objects.get()
    Delivery.objects.filter(subscriber=newcomer).update(status="sent", message_id="77")
    sweeping.close_if_done(broadcast.pk, at=NOON + MINUTE)

    broadcast.refresh_from_db()
    assert opened.status == "sending"
    assert (broadcast.status, broadcast.finished_at) == ("finished", local(9))
    assert errors(caplog) == []


def test_the_first_subscriber_ever_gets_todays_message_after_a_morning_to_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broadcast = make_todays(status="planned", begin_until=local(10))
    sweeping.sweep(at=local(8, 1))
    caplog.clear()  # that nobody got it was told
    make_starter(NOON)

    sweeping.sweep(at=NOON)
    sweeping.sweep(at=NOON + MINUTE)

    broadcast.refresh_from_db()
    assert (broadcast.status, broadcast.finished_at) == ("sending", local(8, 1))
    assert ledger.win_probe(broadcast_id=broadcast.pk, is_upload=False)
    assert errors(caplog) == []


def test_a_finished_broadcast_without_newcomers_stays_finished() -> None:
    broadcast = make_todays(status="finished", finished_at=local(9))
    make_delivery(broadcast, subscriber=make_starter(NOON), status="sent", message_id="77")

    add_newcomers(at=NOON)

    broadcast.refresh_from_db()
    assert broadcast.status == "finished"


@pytest.mark.django_db(transaction=True)
def test_a_broadcast_is_not_closed_over_newcomers_who_are_being_added() -> None:
    broadcast, are_added = make_todays(), Event()
    make_starter(NOON)

    def add() -> bool:
        with transaction.atomic():
            add_newcomers(at=NOON)
            are_added.set()
            return waits_for_lock()

    def close() -> bool:
        are_added.wait(10)
        return sweeping.close_if_done(broadcast.pk, at=NOON)

    was_waiting, is_closed = together(add, close)

    broadcast.refresh_from_db()
    assert (was_waiting, is_closed, broadcast.status) == (True, False, "sending")
    assert broadcast.deliveries.get().status == "pending"


@pytest.mark.django_db(transaction=True)
def test_newcomers_who_come_while_the_broadcast_is_closed_open_it_again() -> None:
    broadcast, is_closed = make_todays(), Event()
    make_starter(NOON)

    def close() -> bool:
        with transaction.atomic():
            sweeping.close_if_done(broadcast.pk, at=NOON)
            is_closed.set()
            return waits_for_lock()

    def add() -> bool:
        is_closed.wait(10)
        add_newcomers(at=NOON)
        return True

    was_waiting, _ = together(close, add)

    broadcast.refresh_from_db()
    assert was_waiting
    assert (broadcast.status, broadcast.finished_at) == ("sending", NOON)
    assert broadcast.deliveries.get().status == "pending"

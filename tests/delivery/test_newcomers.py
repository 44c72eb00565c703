"""Who came, or came back, since the plan gets today's message too."""

from datetime import datetime, timedelta
from threading import Event
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction

from delivery import ledger, sweeping
from delivery.models import Broadcast, Delivery
from delivery.sweeping import add_newcomers
from posts.models import Fundraiser
from subscribers.models import Subscriber
from tests.delivery.morning import DAY, MORNING, QUIET, local
from tests.delivery.together import together, waits_for_lock
from tests.delivery.traces import errors
from tests.factories import make_broadcast, make_delivery, make_subscriber

pytestmark = pytest.mark.django_db

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
NOON = local(12)


def make_todays(**facts: Any) -> Broadcast:
    return make_broadcast(**{"date": DAY, "status": "sending", "planned_at": MORNING} | facts)


def make_starter(at: datetime, **facts: Any) -> Subscriber:
    """Somebody whose own /start came at that moment."""
    return make_subscriber(started_at=at, **facts)


def test_whoever_starts_after_the_plan_gets_todays_message() -> None:
    broadcast = make_todays(revision=2)
    newcomer = make_starter(NOON - SECOND)

    add_newcomers(at=NOON)

    (delivery,) = broadcast.deliveries.all()
    assert (delivery.subscriber, delivery.status, delivery.channel) == (newcomer, "pending", "telegram")
    assert (delivery.revision, delivery.not_before) == (2, NOON)


@pytest.mark.parametrize(("since", "gets_it"), [(10 * MINUTE - SECOND, True), (10 * MINUTE, False)])
def test_a_start_that_was_committed_while_the_recipients_were_read_is_found(since: timedelta, *, gets_it: bool) -> None:
    broadcast = make_todays()
    make_starter(MORNING - since)

    add_newcomers(at=NOON)

    assert broadcast.deliveries.exists() == gets_it


@pytest.mark.parametrize(
    "facts",
    [
        {"started_at": None, "joined_at": NOON},  # imported
        {"started_at": NOON, "chat_id": -4500},  # a group
        {"started_at": NOON, "left_reason": "stopped"},
    ],
)
def test_imported_people_groups_and_people_who_left_again_begin_another_day(facts: dict[str, Any]) -> None:
    broadcast = make_todays()
    make_subscriber(**facts)

    add_newcomers(at=NOON)

    assert not broadcast.deliveries.exists()


@pytest.mark.parametrize(("at", "gets_it"), [(QUIET - SECOND, True), (QUIET, False), (local(23, 59), False)])
def test_nobody_is_written_to_after_the_quiet_hour(at: datetime, *, gets_it: bool) -> None:
    broadcast = make_todays()
    make_starter(at - SECOND)

    add_newcomers(at=at)

    assert broadcast.deliveries.exists() == gets_it


@pytest.mark.parametrize("status", [status for status in Fundraiser.Status if status != Fundraiser.Status.APPROVED])
def test_nobody_gets_a_fundraiser_that_was_taken_back_since(status: str) -> None:
    broadcast = make_todays()
    make_starter(NOON)
    Fundraiser.objects.update(status=status)

    add_newcomers(at=NOON)

    assert not broadcast.deliveries.exists()


@pytest.mark.parametrize("status", ["paused", "cancelled", "expired", "skipped"])
def test_a_broadcast_that_does_not_go_on_takes_in_nobody(status: str) -> None:
    broadcast = make_todays(status=status, reason="so")
    make_starter(NOON)

    add_newcomers(at=NOON)

    assert not broadcast.deliveries.exists()


def test_another_days_broadcast_takes_in_nobody() -> None:
    broadcast = make_todays(date=DAY - timedelta(days=1))
    make_starter(NOON)

    add_newcomers(at=NOON)

    assert not broadcast.deliveries.exists()


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


@pytest.mark.parametrize("reason", ["left", "blocked", "deactivated", "unreachable", "not started"])
def test_whoever_comes_back_gets_the_row_back_that_was_skipped(reason: str) -> None:
    broadcast = make_todays(status="finished", finished_at=local(9))
    delivery = make_delivery(
        broadcast, subscriber=make_starter(NOON), status="skipped", reason=reason, settled_at=local(9)
    )

    add_newcomers(at=NOON)

    delivery.refresh_from_db()
    broadcast.refresh_from_db()
    assert (delivery.status, delivery.reason, delivery.settled_at) == ("pending", "", None)
    assert delivery.not_before == NOON
    assert broadcast.status == "sending"
    assert Delivery.objects.count() == 1


@pytest.mark.parametrize(
    "facts",
    [
        {"started_at": MORNING - 10 * MINUTE},  # no return since the plan
        {"started_at": NOON, "left_reason": "stopped"},  # left again
        {"started_at": NOON, "chat_id": -4500},
    ],
)
def test_a_skipped_row_stays_skipped_without_a_return(facts: dict[str, Any]) -> None:
    delivery = make_delivery(make_todays(), subscriber=make_subscriber(**facts), status="skipped", reason="left")

    add_newcomers(at=NOON)

    delivery.refresh_from_db()
    assert delivery.status == "skipped"


def test_a_row_that_was_skipped_for_another_reason_than_a_leaving_stays_skipped() -> None:
    delivery = make_delivery(make_todays(), subscriber=make_starter(NOON), status="skipped", reason="quiet hour")

    add_newcomers(at=NOON)

    delivery.refresh_from_db()
    assert delivery.status == "skipped"


@pytest.mark.parametrize("status", ["sending", "sent", "failed", "unknown"])
def test_whoever_may_have_the_message_never_gets_it_again_by_leaving_and_coming_back(status: str) -> None:
    facts = {"status": status, "reason": "blocked", "message_id": "77", "token": uuid4(), "claimed_at": MORNING}
    delivery = make_delivery(make_todays(), subscriber=make_starter(NOON), **facts)

    add_newcomers(at=NOON)

    assert Delivery.objects.get().status == status
    assert Delivery.objects.get().token == delivery.token


def test_a_second_look_adds_nobody_twice() -> None:
    broadcast = make_todays()
    make_starter(NOON - MINUTE)

    add_newcomers(at=NOON)
    add_newcomers(at=NOON + MINUTE)

    assert broadcast.deliveries.count() == 1


# Somebody closes the broadcast at the same moment.


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


def test_whom_telegram_refused_since_their_start_is_not_called_again() -> None:
    broadcast = make_todays(status="finished", finished_at=NOON)
    person = make_subscriber(started_at=NOON)
    claimed_at = NOON + timedelta(seconds=30)
    refused = make_delivery(broadcast, subscriber=person, status="skipped", reason="not started", claimed_at=claimed_at)

    add_newcomers(at=NOON + timedelta(minutes=1))

    refused.refresh_from_db()
    assert refused.status == "skipped"

"""Who came, or came back, since the plan gets today's message too."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from delivery.models import Delivery
from delivery.sweeping import add_newcomers
from posts.models import Fundraiser
from tests.delivery.coming import make_starter, make_todays
from tests.delivery.morning import DAY, MORNING, QUIET, local
from tests.factories import make_delivery, make_subscriber

pytestmark = pytest.mark.django_db
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
NOON = local(12)


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


def test_whom_telegram_refused_since_their_start_is_not_called_again() -> None:
    broadcast = make_todays(status="finished", finished_at=NOON)
    person = make_subscriber(started_at=NOON)
    claimed_at = NOON + timedelta(seconds=30)
    refused = make_delivery(broadcast, subscriber=person, status="skipped", reason="not started", claimed_at=claimed_at)

    add_newcomers(at=NOON + timedelta(minutes=1))

    refused.refresh_from_db()
    assert refused.status == "skipped"

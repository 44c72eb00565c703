from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction

from delivery.ledger import Claim, Result
from delivery.models import Broadcast, Delivery
from posts import clock
from subscribers.models import Subscriber
from tests.delivery.running import make_proven, turn
from tests.delivery.together import together
from tests.factories import make_broadcast, make_delivery, make_subscriber

pytestmark = pytest.mark.django_db

Status = Delivery.Status
MINUTE = timedelta(minutes=1)


def test_a_claim_marks_the_row_and_tells_whom_to_write_to() -> None:
    broadcast, token = make_proven(), uuid4()
    delivery = make_delivery(broadcast, subscriber=make_subscriber(chat_id=5_134_861_499))

    (claim,) = turn(broadcast, token=token)

    delivery.refresh_from_db()
    assert (delivery.status, delivery.token, delivery.settled_at) == ("sending", token, None)
    assert delivery.claimed_at
    assert claim == Claim(delivery.pk, delivery.subscriber_id or 0, 5_134_861_499, token, delivery.claimed_at)


@pytest.mark.django_db(transaction=True)
def test_a_claim_is_committed_before_anybody_could_call() -> None:
    broadcast = make_proven()
    delivery = make_delivery(broadcast)

    turn(broadcast)

    seen_by_others = together(lambda: Delivery.objects.get(pk=delivery.pk).status)
    assert seen_by_others == ["sending"]


def test_a_claim_takes_as_many_as_wanted_the_longest_due_first() -> None:
    broadcast, now = make_proven(), clock.now()
    waits = [make_delivery(broadcast, not_before=now - minutes * MINUTE).pk for minutes in (1, 3, 2)]

    claims = turn(broadcast, want=2)

    assert {claim.delivery_id for claim in claims} == {waits[1], waits[2]}


def test_a_row_is_not_claimed_before_its_time() -> None:
    broadcast = make_proven()
    make_delivery(broadcast, not_before=clock.now() + MINUTE)

    assert turn(broadcast) == []


def test_a_row_of_another_text_is_not_claimed() -> None:
    broadcast = make_proven(revision=2)
    make_delivery(broadcast, revision=1)
    of_this_text = make_delivery(broadcast, revision=2)

    assert [claim.delivery_id for claim in turn(broadcast)] == [of_this_text.pk]


@pytest.mark.parametrize("status", [status for status in Status if status != Status.PENDING])
def test_only_a_pending_row_is_claimed(status: str) -> None:
    broadcast = make_proven()
    make_delivery(broadcast, status=status, reason="so", message_id="1", token=uuid4(), claimed_at=clock.now())

    assert turn(broadcast) == []


@pytest.mark.parametrize("reason", ["stopped", "blocked", "deactivated", "unreachable"])
def test_nobody_who_left_is_claimed(reason: str) -> None:
    broadcast = make_proven()
    make_delivery(broadcast, subscriber=make_subscriber(left_reason=reason))

    assert turn(broadcast) == []
    assert turn(broadcast, is_probe=True) == []


def test_a_public_channel_is_not_claimed_as_if_it_were_a_person() -> None:
    broadcast = make_proven()
    Delivery.objects.create(broadcast=broadcast)

    assert turn(broadcast) == []


@pytest.mark.parametrize("status", ["paused", "finished", "cancelled", "expired", "skipped"])
@pytest.mark.parametrize("is_probe", [False, True])
def test_nothing_is_claimed_of_a_broadcast_that_does_not_run(status: str, *, is_probe: bool) -> None:
    broadcast = make_proven(status=status, reason="so", finished_at=clock.now())
    make_delivery(broadcast)

    assert turn(broadcast, is_probe=is_probe) == []


@pytest.mark.parametrize("is_probe", [False, True])
def test_nothing_is_claimed_after_the_hour_until_which_a_broadcast_runs(*, is_probe: bool) -> None:
    broadcast = make_proven(run_until=clock.now() - MINUTE)
    make_delivery(broadcast)

    assert turn(broadcast, is_probe=is_probe) == []


@pytest.mark.parametrize("is_probe", [False, True])
def test_nothing_is_claimed_for_another_revision_than_the_frozen_one(*, is_probe: bool) -> None:
    broadcast = make_proven(revision=2)
    make_delivery(broadcast, revision=2)

    assert turn(broadcast, revision=1, is_probe=is_probe) == []


@pytest.mark.parametrize("facts", [{"status": "planned"}, {"status": "sending"}])
def test_of_a_broadcast_without_a_first_message_only_a_probe_claims(facts: dict[str, Any]) -> None:
    broadcast = make_broadcast(**facts)
    make_delivery(broadcast)

    assert turn(broadcast) == []
    assert len(turn(broadcast, is_probe=True)) == 1


@pytest.mark.parametrize("minutes", [-1, 1])
def test_of_a_broadcast_on_hold_only_a_probe_claims_also_when_the_hold_is_over(minutes: int) -> None:
    broadcast = make_proven(hold_until=clock.now() + minutes * MINUTE)
    make_delivery(broadcast)

    assert turn(broadcast) == []
    assert len(turn(broadcast, is_probe=True)) == 1


def test_another_days_rows_are_not_claimed() -> None:
    broadcast = make_proven()
    make_delivery(make_proven(date=clock.now().date()))

    assert turn(broadcast) == []


def test_a_claim_leaves_nothing_of_what_was_said_of_the_row_before() -> None:
    broadcast = make_proven()
    delivery = make_delivery(broadcast)
    (claim,) = turn(broadcast)
    turn(broadcast, Result(claim, Status.PENDING, "the group became a supergroup"), want=0)

    turn(broadcast)

    delivery.refresh_from_db()
    assert (delivery.status, delivery.reason) == ("sending", "")


def claim_at_once(broadcast: Broadcast) -> list[Claim]:
    """The claims of another connection, which waits for no lock."""

    def claim() -> list[Claim]:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '5s'")
        return turn(broadcast)

    (claims,) = together(claim)
    return claims


@pytest.mark.django_db(transaction=True)
def test_a_claim_passes_over_a_row_that_somebody_holds() -> None:
    broadcast = make_proven()
    held, free = make_delivery(broadcast), make_delivery(broadcast)

    with transaction.atomic():
        Delivery.objects.select_for_update().get(pk=held.pk)
        claims = claim_at_once(broadcast)

    assert [claim.delivery_id for claim in claims] == [free.pk]


@pytest.mark.django_db(transaction=True)
def test_a_claim_needs_neither_the_broadcasts_row_nor_the_subscribers() -> None:
    broadcast = make_proven()
    delivery = make_delivery(broadcast)

    with transaction.atomic():
        Broadcast.objects.select_for_update(of=["self"]).get(pk=broadcast.pk)
        Subscriber.objects.select_for_update().get()
        claims = claim_at_once(broadcast)

    assert [claim.delivery_id for claim in claims] == [delivery.pk]


@pytest.mark.django_db(transaction=True)
def test_eight_connections_claiming_at_once_never_share_a_row() -> None:
    broadcast = make_proven()
    deliveries = [make_delivery(broadcast).pk for _ in range(500)]

    def claim_all() -> list[int]:
        claimed: list[int] = []
        while claims := turn(broadcast, want=7):
            claimed += [claim.delivery_id for claim in claims]
        return claimed

    claimed = [one for all_of_one in together(*[claim_all] * 8) for one in all_of_one]

    assert sorted(claimed) == sorted(deliveries)


def test_the_claim_goes_by_the_sandbox_clock(set_clock: Callable[[datetime], None]) -> None:
    tonight, tomorrow = clock.now() + timedelta(hours=12), clock.now() + timedelta(days=1)
    make_delivery(until_tonight := make_proven(run_until=tonight))
    make_delivery(from_tonight := make_proven(date=tonight.date()), not_before=tonight)

    set_clock(tomorrow)

    assert turn(until_tonight) == []
    (claim,) = turn(from_tonight)
    assert abs(claim.claimed_at - tomorrow) < MINUTE


def test_a_result_is_written_by_the_sandbox_clock(set_clock: Callable[[datetime], None]) -> None:
    tomorrow = clock.now() + timedelta(days=1)
    set_clock(tomorrow)
    broadcast = make_proven()
    for _ in range(2):
        make_delivery(broadcast)
    first, second = turn(broadcast)

    turn(broadcast, Result(first, Status.PENDING, wait=MINUTE), Result(second, Status.SENT, message_id="1"), want=0)

    waiting, done = Delivery.objects.get(pk=first.delivery_id), Delivery.objects.get(pk=second.delivery_id)
    assert abs(waiting.not_before - tomorrow - MINUTE) < MINUTE / 2
    assert done.settled_at
    assert abs(done.settled_at - tomorrow) < MINUTE / 2

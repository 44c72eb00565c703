from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from delivery import ledger
from delivery.ledger import Result
from delivery.models import Delivery
from posts import clock
from tests.delivery.running import make_proven, sent, turn
from tests.factories import make_delivery

pytestmark = pytest.mark.django_db

Status = Delivery.Status


def test_a_result_settles_its_row() -> None:
    broadcast = make_proven()
    delivery = make_delivery(broadcast)
    (claim,) = turn(broadcast)

    turn(broadcast, sent(claim))

    delivery.refresh_from_db()
    assert (delivery.status, delivery.message_id, delivery.reason) == ("sent", "77", "")
    assert delivery.settled_at


def test_a_result_that_says_not_sent_makes_the_row_pending_again_and_not_settled() -> None:
    broadcast = make_proven()
    delivery = make_delivery(broadcast)
    (claim,) = turn(broadcast)

    turn(broadcast, Result(claim, Status.PENDING), want=0)

    delivery.refresh_from_db()
    assert (delivery.status, delivery.settled_at) == ("pending", None)


def test_a_long_reason_is_cut_to_what_the_row_holds() -> None:
    broadcast = make_proven()
    delivery = make_delivery(broadcast)
    (claim,) = turn(broadcast)

    turn(broadcast, Result(claim, Status.FAILED, "ж" * 300))

    delivery.refresh_from_db()
    assert delivery.reason == "ж" * 200


def test_results_and_claims_are_one_statement() -> None:
    broadcast = make_proven()
    first, second = make_delivery(broadcast), make_delivery(broadcast)
    claims = turn(broadcast, want=1)

    with CaptureQueriesContext(connection) as queries:
        claims += turn(broadcast, sent(claims[0]))

    assert len(queries) == 1
    assert {claim.delivery_id for claim in claims} == {first.pk, second.pk}


def test_a_row_given_back_is_claimed_by_the_next_turn_not_by_the_same() -> None:
    broadcast = make_proven()
    make_delivery(broadcast)
    (claim,) = turn(broadcast)

    assert turn(broadcast, Result(claim, Status.PENDING)) == []
    assert len(turn(broadcast)) == 1


def test_a_result_with_a_stale_token_changes_nothing() -> None:
    broadcast = make_proven()
    delivery = make_delivery(broadcast)
    (stale,) = turn(broadcast)
    turn(broadcast, Result(stale, Status.PENDING), want=0)
    (current,) = turn(broadcast)

    turn(broadcast, sent(stale), want=0)

    delivery.refresh_from_db()
    assert (delivery.status, delivery.token) == ("sending", current.token)


@pytest.mark.parametrize("late", [Status.SENT, Status.SKIPPED, Status.PENDING])
def test_an_answer_that_comes_after_the_row_became_unknown_still_counts(late: Status) -> None:
    broadcast = make_proven()
    delivery = make_delivery(broadcast)
    (claim,) = turn(broadcast)
    Delivery.objects.update(status="unknown", reason="no answer was recorded")

    turn(broadcast, Result(claim, late, "blocked" if late == Status.SKIPPED else "", "77"), want=0)

    delivery.refresh_from_db()
    assert delivery.status == late


def resend(delivery: Delivery) -> None:
    """What a person's resend of an unknown does: the row is due again, so that it will get a new token."""
    Delivery.objects.filter(pk=delivery.pk, status="unknown").update(status="pending", reason="", token=None)


def test_the_old_answer_of_a_row_that_was_resent_changes_nothing() -> None:
    broadcast = make_proven()
    delivery = make_delivery(broadcast)
    (old,) = turn(broadcast)
    Delivery.objects.update(status="unknown", reason="no answer was recorded")
    resend(delivery)
    (new,) = turn(broadcast)

    turn(broadcast, Result(old, Status.SKIPPED, "blocked"), want=0)
    turn(broadcast, Result(new, Status.SENT, message_id="78"), want=0)

    delivery.refresh_from_db()
    assert (delivery.status, delivery.message_id) == ("sent", "78")


@pytest.mark.parametrize("status", [Status.SENT, Status.SKIPPED, Status.FAILED])
def test_a_settled_row_is_not_settled_again(status: Status) -> None:
    broadcast = make_proven()
    delivery = make_delivery(broadcast)
    (claim,) = turn(broadcast)
    turn(broadcast, Result(claim, status, "first", "77"))

    turn(broadcast, Result(claim, Status.UNKNOWN, "second"))

    delivery.refresh_from_db()
    assert (delivery.status, delivery.reason) == (status, "first")


def test_giving_back_returns_what_is_in_flight_under_the_token_and_nothing_else() -> None:
    broadcast = make_proven()
    for _ in range(4):
        make_delivery(broadcast)
    lost, mine = uuid4(), uuid4()
    done, *_ = turn(broadcast, token=lost, want=2)
    turn(broadcast, sent(done), token=mine, want=1)

    ledger.give_back(token=lost)

    rows: list[tuple[str, UUID | None]] = list(Delivery.objects.order_by("pk").values_list("status", "token"))
    assert sorted((status, token == mine) for status, token in rows) == [
        ("pending", False),
        ("pending", False),
        ("sending", True),
        ("sent", False),
    ]


def test_a_row_that_must_wait_is_not_claimed_before() -> None:
    broadcast = make_proven()
    make_delivery(broadcast)
    (claim,) = turn(broadcast)

    again = turn(broadcast, Result(claim, Status.PENDING, wait=timedelta(seconds=30)))
    later = turn(broadcast)

    assert (again, later) == ([], [])
    assert Delivery.objects.get().not_before > clock.now() + timedelta(seconds=25)


@pytest.mark.parametrize("status", [Status.FAILED, Status.SKIPPED])
def test_what_a_person_had_sent_again_is_never_called_not_sent(status: Status) -> None:
    broadcast = make_proven()
    make_delivery(broadcast, perhaps_out=True)
    (claim,) = turn(broadcast)

    turn(broadcast, Result(claim, status, "blocked"))

    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.reason) == ("unknown", "blocked")

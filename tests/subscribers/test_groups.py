"""Groups that become supergroups: nobody is lost, and no group gets a post twice."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from subscribers.models import Subscriber
from tests.factories import make_subscriber

Reason = Subscriber.LeftReason
NOON = datetime(2026, 3, 29, 9, tzinfo=UTC)
OLD, NEW = -4500, -1002471352452


def follow() -> None:
    Subscriber.objects.follow(chat_id=OLD, to=NEW, at=NOON)


def active() -> list[int]:
    return list(Subscriber.objects.active().values_list("chat_id", flat=True))


@pytest.mark.django_db
def test_a_group_that_told_of_its_new_id_is_found_under_it() -> None:
    make_subscriber(chat_id=OLD)

    follow()
    follow()

    assert active() == [NEW]
    assert Subscriber.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(("reason", "is_back"), [(Reason.BLOCKED, True), (Reason.STOPPED, False)])
def test_a_group_that_seemed_to_have_left_is_back_unless_it_wished_so(reason: str, *, is_back: bool) -> None:
    make_subscriber(chat_id=OLD, left_reason=reason)

    follow()

    assert Subscriber.objects.get().chat_id == NEW
    assert Subscriber.objects.get().is_active == is_back


@pytest.mark.django_db
def test_leaving_the_old_group_after_the_move_changes_nothing() -> None:
    make_subscriber(chat_id=OLD)
    follow()

    Subscriber.objects.leave(chat_id=OLD, reason=Reason.BLOCKED, at=NOON)

    assert active() == [NEW]


@pytest.mark.django_db
def test_where_the_new_id_is_a_subscriber_one_of_the_two_stays() -> None:
    make_subscriber(chat_id=OLD)
    make_subscriber(chat_id=NEW)

    follow()
    follow()

    assert active() == [NEW]
    assert Subscriber.objects.get(chat_id=OLD).left_reason == Reason.UNREACHABLE


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("reason", "is_back"), [(Reason.BLOCKED, True), (Reason.UNREACHABLE, True), (Reason.STOPPED, False)]
)
def test_where_the_new_id_was_off_the_group_is_not_lost_with_the_old_one(reason: str, *, is_back: bool) -> None:
    make_subscriber(chat_id=OLD)
    make_subscriber(chat_id=NEW, left_reason=reason)

    follow()

    assert active() == ([NEW] if is_back else [])
    assert not Subscriber.objects.newcomers(since=NOON - timedelta(days=1)).exists()


@pytest.mark.django_db
def test_an_old_row_that_was_off_brings_nobody_back() -> None:
    make_subscriber(chat_id=OLD, left_reason=Reason.UNREACHABLE)
    make_subscriber(chat_id=NEW, left_reason=Reason.BLOCKED)

    follow()

    assert active() == []


@pytest.mark.django_db
def test_an_unknown_group_subscribes_by_no_upgrade() -> None:
    follow()

    assert not Subscriber.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("round_number", range(10))
def test_leaving_and_moving_at_once_lose_no_group(round_number: int) -> None:
    make_subscriber(chat_id=OLD)

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(in_own_connection, is_move=bool(turn % 2)) for turn in range(4)]:
            done.result()

    assert active() == [NEW]


def in_own_connection(*, is_move: bool) -> None:
    try:
        if is_move:
            follow()
        else:
            Subscriber.objects.leave(chat_id=OLD, reason=Reason.BLOCKED, at=NOON)
    finally:
        connection.close()

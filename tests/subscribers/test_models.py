"""Who is subscribed: constraints, and changes that may meet each other."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from subscribers.models import InboxUpdate, Subscriber
from tests.factories import make_subscriber

Reason = Subscriber.LeftReason
NOON = datetime(2026, 3, 29, 9, tzinfo=UTC)
LATER = NOON + timedelta(minutes=5)
NAMES = {"username": "olia", "first_name": "Оля", "language": "uk"}


def subscribe(*, at: datetime = NOON, **names: str) -> bool:
    return Subscriber.objects.subscribe(chat_id=101, at=at, **NAMES | names)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("constraint", "facts"),
    [
        ("subscriber_has_a_chat", {"chat_id": 0}),
        ("subscriber_left_has_reason", {"left_at": NOON}),
        ("subscriber_left_has_reason", {"left_at": None, "left_reason": "blocked"}),
    ],
)
def test_a_constraint_refuses(constraint: str, facts: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        make_subscriber(**facts)


@pytest.mark.django_db
def test_a_chat_subscribes_once() -> None:
    make_subscriber(chat_id=101)

    with pytest.raises(IntegrityError, match="chat_id"), transaction.atomic():
        make_subscriber(chat_id=101)


@pytest.mark.django_db
def test_an_update_is_kept_once_for_each_bot() -> None:
    updates = [{"update_id": 7}, {"update_id": 7}, {"update_id": 8}]

    for bot_id in (1024, 1024, 1025):
        InboxUpdate.objects.store(updates, bot_id=bot_id, at=NOON)

    kept = InboxUpdate.objects.order_by("pk").values_list("bot_id", "update_id")
    assert list(kept) == [(1024, 7), (1024, 8), (1025, 7), (1025, 8)]
    with pytest.raises(IntegrityError, match="inbox_update_once_per_bot"), transaction.atomic():
        InboxUpdate.objects.create(bot_id=1024, update_id=7, payload={}, received_at=NOON)


@pytest.mark.django_db
def test_what_postgresql_cannot_keep_is_kept_without_it() -> None:
    update = {"update_id": 7, "message": {"text": "а\0б", "names": ["\ud83d", "\\u0000"], "c\0d": 1, "e": None}}

    InboxUpdate.objects.store([update], bot_id=1024, at=NOON)

    kept = InboxUpdate.objects.get().payload["message"]
    assert kept == {"text": "аб", "names": ["?", "\\u0000"], "cd": 1, "e": None}


@pytest.mark.django_db
def test_the_inbox_is_emptied_two_days_after_the_handling() -> None:
    InboxUpdate.objects.store([{"update_id": number} for number in (1, 2, 3)], bot_id=1024, at=NOON)
    first, second, _ = InboxUpdate.objects.unhandled()
    InboxUpdate.objects.mark_handled([first.pk], at=NOON)
    InboxUpdate.objects.mark_handled([second.pk], at=LATER)

    InboxUpdate.objects.prune(at=NOON + timedelta(days=2, seconds=1))

    assert [update.update_id for update in InboxUpdate.objects.order_by("pk")] == [2, 3]


@pytest.mark.django_db
def test_somebody_new_is_a_newcomer() -> None:
    has_joined = subscribe()

    newcomer = Subscriber.objects.newcomers(since=NOON - timedelta(minutes=10)).get()
    assert has_joined
    assert (newcomer.username, newcomer.first_name, newcomer.language) == ("olia", "Оля", "uk")
    assert newcomer.joined_at == newcomer.started_at == NOON


@pytest.mark.django_db
def test_a_second_start_moves_nothing_but_names() -> None:
    subscribe()

    has_joined = subscribe(at=LATER, first_name="Ольга")

    assert not has_joined
    assert Subscriber.objects.get().started_at == NOON
    assert Subscriber.objects.get().first_name == "Ольга"


@pytest.mark.django_db
def test_an_odd_name_keeps_nobody_outside() -> None:
    has_joined = subscribe(first_name="О" * 300, language="uk-" + "x" * 100)

    assert has_joined
    assert not subscribe(first_name="О" * 300)
    assert Subscriber.objects.get().first_name == "О" * 256


@pytest.mark.django_db
@pytest.mark.parametrize("reason", Reason)
def test_start_brings_back_whoever_left(reason: str) -> None:
    make_subscriber(chat_id=101, left_reason=reason)

    has_joined = subscribe()

    assert has_joined
    assert Subscriber.objects.get().is_active
    assert Subscriber.objects.get().started_at == NOON


@pytest.mark.django_db
def test_imported_people_and_groups_are_no_newcomers() -> None:
    make_subscriber(chat_id=101)
    make_subscriber(chat_id=-101, started_at=NOON)
    make_subscriber(chat_id=102, started_at=NOON, left_reason="stopped")

    assert not Subscriber.objects.newcomers(since=NOON - timedelta(minutes=10)).exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("before", "now", "after"),
    [
        ("", Reason.STOPPED, Reason.STOPPED),
        ("", Reason.BLOCKED, Reason.BLOCKED),
        (Reason.BLOCKED, Reason.STOPPED, Reason.STOPPED),
        (Reason.UNREACHABLE, Reason.STOPPED, Reason.STOPPED),
        (Reason.STOPPED, Reason.BLOCKED, Reason.STOPPED),
        (Reason.DEACTIVATED, Reason.BLOCKED, Reason.DEACTIVATED),
    ],
)
def test_a_wish_to_stop_outlives_everything_else(before: str, now: str, after: str) -> None:
    make_subscriber(chat_id=101, left_reason=before)

    is_news = Subscriber.objects.leave(chat_id=101, reason=now, at=NOON)

    assert Subscriber.objects.get().left_reason == after
    assert is_news == (before != after)


@pytest.mark.django_db
@pytest.mark.parametrize("reason", Reason)
def test_unblocking_brings_back_only_who_blocked(reason: str) -> None:
    make_subscriber(chat_id=101, left_reason=reason)

    has_returned = Subscriber.objects.bring_back(chat_id=101, at=NOON)

    assert has_returned == (reason == Reason.BLOCKED)
    assert Subscriber.objects.get().is_active == has_returned
    assert (Subscriber.objects.get().started_at == NOON) == has_returned


@pytest.mark.django_db
@pytest.mark.parametrize(("started_at", "is_gone"), [(None, True), (NOON - timedelta(hours=1), True), (LATER, False)])
def test_a_refusal_takes_off_only_who_did_not_come_since_the_claim(
    started_at: datetime | None, *, is_gone: bool
) -> None:
    person = make_subscriber(started_at=started_at)

    has_marked = Subscriber.objects.mark_gone(person.pk, reason=Reason.BLOCKED, claimed_at=NOON, at=LATER)

    assert has_marked == is_gone
    assert Subscriber.objects.get().is_active != is_gone


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("row", [None, {}, {"left_reason": "stopped"}], ids=["new", "imported", "left"])
def test_two_starts_at_once_subscribe_once(row: dict[str, str] | None) -> None:
    if row is not None:
        make_subscriber(chat_id=101, **row)

    with ThreadPoolExecutor(8) as threads:
        joined = list(threads.map(lambda _: in_own_connection(subscribe), range(8)))

    assert joined.count(True) == 1
    assert Subscriber.objects.count() == 1


def in_own_connection(function: Callable[[], bool]) -> bool:
    try:
        return function()
    finally:
        connection.close()
